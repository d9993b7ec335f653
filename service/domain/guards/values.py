"""Does the source state the numbers, dates and units that the fact states?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.domain.values import Comparison, Value, ValueKind, compare


class ValueFinding(StrEnum):
    """What became of the values of a fact."""

    NONE = "none"
    MATCH = "match"
    ABSENT = "absent"
    NUMBER = "number_mismatch"
    DATE = "date_mismatch"
    UNIT = "unit_mismatch"


@dataclass(frozen=True, slots=True)
class ValueReport:
    """The finding, with the pair of texts that it rests on, and the pairs that are equal."""

    finding: ValueFinding
    stated: str = ""
    claimed: str = ""
    equal: tuple[tuple[Value, Value], ...] = ()


def compare_values(
    claimed: Sequence[Value], near: Sequence[Sequence[Value]], anywhere: Sequence[Value]
) -> ValueReport:
    """Return how the fact's values compare with the source's.

    Args:
        claimed: the values of the claim.
        near: the values of the evidence, from the narrowest scope (its clause) to its sentence.
            The narrowest scope with a comparable value decides.
        anywhere: the values of the whole source. They can match, but never differ: a number about
            something else far away contradicts nothing.
    """
    if not claimed:
        return ValueReport(ValueFinding.NONE)
    reports = [_one(value, near, anywhere) for value in claimed]
    equal = tuple(pair for r in reports for pair in r.equal)
    worst = min(reports, key=lambda r: _SEVERITY.index(r.finding))
    return ValueReport(worst.finding, worst.stated, worst.claimed, equal)


_SEVERITY = (
    ValueFinding.UNIT,
    ValueFinding.NUMBER,
    ValueFinding.DATE,
    ValueFinding.ABSENT,
    ValueFinding.MATCH,
)


def _one(value: Value, near: Sequence[Sequence[Value]], anywhere: Sequence[Value]) -> ValueReport:
    for scope in near:
        report = _in_scope(value, scope)
        if report is not None:
            return report
    for other in anywhere:
        if compare(value, other) is Comparison.EQUAL:
            return _matched(value, other)
    return ValueReport(ValueFinding.ABSENT, "", value.text)


def _matched(value: Value, other: Value) -> ValueReport:
    return ValueReport(ValueFinding.MATCH, other.text, value.text, ((value, other),))


def _in_scope(value: Value, scope: Sequence[Value]) -> ValueReport | None:
    """Return what one scope says of a value, or None when it has nothing to compare."""
    outcomes = {outcome: other for other in reversed(scope) for outcome in (compare(value, other),)}
    if Comparison.EQUAL in outcomes:
        return _matched(value, outcomes[Comparison.EQUAL])
    if Comparison.OTHER_UNIT in outcomes:
        return ValueReport(ValueFinding.UNIT, outcomes[Comparison.OTHER_UNIT].text, value.text)
    if Comparison.DIFFERENT in outcomes:
        dated = value.kind in (ValueKind.DATE, ValueKind.TIME)
        kind = ValueFinding.DATE if dated else ValueFinding.NUMBER
        return ValueReport(kind, outcomes[Comparison.DIFFERENT].text, value.text)
    vague = Comparison.VAGUE in outcomes
    return ValueReport(ValueFinding.ABSENT, "", value.text) if vague else None

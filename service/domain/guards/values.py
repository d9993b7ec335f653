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


def compare_values(claimed: Sequence[Value], scopes: Sequence[Sequence[Value]]) -> ValueReport:
    """Return how the fact's values compare with the source's.

    Args:
        claimed: the values of the claim.
        scopes: the source's values from the narrowest scope (evidence clause) to the widest (whole
            source). The narrowest scope with a comparable value decides, so that a number about
            something else far away does not count.
    """
    if not claimed:
        return ValueReport(ValueFinding.NONE)
    equal: list[tuple[Value, Value]] = []
    worst = ValueReport(ValueFinding.MATCH)
    for value in claimed:
        report = _one(value, scopes)
        if report.finding is ValueFinding.MATCH:
            equal.extend(report.equal)
        elif worst.finding in (ValueFinding.MATCH, ValueFinding.ABSENT):
            worst = (
                report
                if report.finding is not ValueFinding.ABSENT or worst.finding is ValueFinding.MATCH
                else worst
            )
    return ValueReport(worst.finding, worst.stated, worst.claimed, tuple(equal))


def _one(value: Value, scopes: Sequence[Sequence[Value]]) -> ValueReport:
    for scope in scopes:
        outcomes = [(compare(value, other), other) for other in scope]
        for outcome, other in outcomes:
            if outcome is Comparison.EQUAL:
                return ValueReport(ValueFinding.MATCH, other.text, value.text, ((value, other),))
        for outcome, other in outcomes:
            if outcome is Comparison.OTHER_UNIT:
                return ValueReport(ValueFinding.UNIT, other.text, value.text)
        for outcome, other in outcomes:
            if outcome is Comparison.DIFFERENT:
                dated = value.kind in (ValueKind.DATE, ValueKind.TIME)
                kind = ValueFinding.DATE if dated else ValueFinding.NUMBER
                return ValueReport(kind, other.text, value.text)
        if any(outcome is Comparison.VAGUE for outcome, _ in outcomes):
            return ValueReport(ValueFinding.ABSENT, "", value.text)
    return ValueReport(ValueFinding.ABSENT, "", value.text)

"""Numbers, quantities, dates and times as they are compared, whatever they were written like."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class ValueKind(StrEnum):
    """What a value measures or names."""

    NUMBER = "number"
    QUANTITY = "quantity"
    DATE = "date"
    TIME = "time"
    IDENTIFIER = "identifier"


@dataclass(frozen=True, slots=True)
class Value:
    """One value found in a text.

    Attributes:
        kind: what it is.
        start: code-point offset in the text.
        end: code-point offset behind it.
        text: as it was written.
        number: its magnitude, in base units for a quantity.
        raw: its magnitude as written, before conversion.
        unit: the base unit of a quantity, or an empty string.
        dimension: what the unit measures ("length", "mass", "currency:EUR"), or what is counted
            ("count:cat"), how often a date recurs ("every other"), or an empty string.
        since: the first day that a date may mean.
        until: the last day that a date may mean.
        partial: which parts of a date were written, of "y", "m", "d", "w"; "" for other kinds.
        comparator: "", ">", ">=", "<", "<=" for "more than", "at least" and so on.
        approximate: "about", "around", "roughly".
    """

    kind: ValueKind
    start: int
    end: int
    text: str
    number: float | None = None
    raw: float | None = None
    unit: str = ""
    dimension: str = ""
    since: date | None = None
    until: date | None = None
    partial: str = ""
    comparator: str = ""
    approximate: bool = False


class Comparison(StrEnum):
    """How two values relate."""

    EQUAL = "equal"
    DIFFERENT = "different"
    OTHER_UNIT = "other_unit"
    VAGUE = "vague"
    INCOMPARABLE = "incomparable"


_APPROXIMATE = 0.1
_CONVERTED = 0.005
_AGE = "[time]"


def compare(claimed: Value, stated: Value) -> Comparison:
    """Return how a claimed value relates to a stated one.

    Values of different kinds or dimensions do not compare; identifiers only match, never differ:
    locker 40 does not contradict locker 41. A date that is more precise than what was stated is
    VAGUE, as is an exact number near an approximate one.
    """
    if claimed.kind is ValueKind.DATE or stated.kind is ValueKind.DATE:
        return _compare_dates(claimed, stated)
    if claimed.number is None or stated.number is None:
        return Comparison.INCOMPARABLE
    if ValueKind.IDENTIFIER in (claimed.kind, stated.kind):
        same = claimed.raw == stated.raw
        return Comparison.EQUAL if same else Comparison.INCOMPARABLE
    if claimed.dimension != stated.dimension:
        return _other_dimension(claimed, stated)
    if claimed.comparator:
        holds = _satisfies(stated.number, claimed.comparator, claimed.number)
        return Comparison.EQUAL if holds else Comparison.DIFFERENT
    return _compare_numbers(claimed, stated)


def _other_dimension(claimed: Value, stated: Value) -> Comparison:
    if claimed.raw != stated.raw:
        bare = "" in (claimed.dimension, stated.dimension)
        time = ValueKind.TIME in (claimed.kind, stated.kind)
        return (
            Comparison.DIFFERENT
            if bare and time and _clock(claimed, stated)
            else Comparison.INCOMPARABLE
        )
    counted = claimed.dimension.startswith("count:") or stated.dimension.startswith("count:")
    if not claimed.dimension or not stated.dimension:
        return Comparison.EQUAL
    return Comparison.INCOMPARABLE if counted else Comparison.OTHER_UNIT


def _clock(claimed: Value, stated: Value) -> bool:
    return claimed.kind is stated.kind


def _compare_numbers(claimed: Value, stated: Value) -> Comparison:
    first, second = float(claimed.number or 0), float(stated.number or 0)
    converted = claimed.raw != stated.raw
    scale = max(abs(first), abs(second), 1e-12)
    distance = abs(first - second) / scale
    if distance <= (_CONVERTED if converted and claimed.dimension else 1e-9):
        return Comparison.EQUAL
    if (stated.approximate or claimed.approximate) and distance <= _APPROXIMATE:
        return Comparison.EQUAL if claimed.approximate else Comparison.VAGUE
    if stated.comparator:
        return (
            Comparison.VAGUE
            if _satisfies(first, stated.comparator, second)
            else Comparison.DIFFERENT
        )
    if claimed.raw == stated.raw and claimed.dimension:
        return Comparison.OTHER_UNIT
    return Comparison.DIFFERENT


def _satisfies(number: float, comparator: str, bound: float) -> bool:
    return {
        ">": number > bound,
        ">=": number >= bound,
        "<": number < bound,
        "<=": number <= bound,
    }[comparator]


def _compare_dates(claimed: Value, stated: Value) -> Comparison:
    if claimed.kind is not stated.kind:
        return Comparison.INCOMPARABLE
    if claimed.text.lower() == stated.text.lower():
        return Comparison.EQUAL
    if claimed.since is None or stated.since is None:
        return Comparison.INCOMPARABLE
    if claimed.dimension and stated.dimension and claimed.dimension != stated.dimension:
        return Comparison.DIFFERENT
    shared = _shared_parts(claimed, stated)
    if not shared:
        return Comparison.VAGUE
    if any(_part(claimed, p) != _part(stated, p) for p in shared):
        return Comparison.DIFFERENT
    return _precision(claimed, shared)


def _shared_parts(claimed: Value, stated: Value) -> str:
    first, second = _known_parts(claimed), _known_parts(stated)
    return "".join(p for p in "ymdw" if p in first and p in second)


def _known_parts(value: Value) -> str:
    """Return the parts that are certain: a full date also has a weekday."""
    if value.partial != "ymd":
        return value.partial
    return "ymdw" if value.since == value.until else "ym" if _within_month(value) else "y"


def _within_month(value: Value) -> bool:
    return (
        value.since is not None
        and value.until is not None
        and value.since.month == value.until.month
    )


def _part(value: Value, part: str) -> int:
    day = value.since or date.min
    return {"y": day.year, "m": day.month, "d": day.day, "w": day.weekday()}[part]


def _precision(claimed: Value, shared: str) -> Comparison:
    wanted = set(_known_parts(claimed)) - {"w"} or {"w"}
    return Comparison.EQUAL if wanted <= set(shared) else Comparison.VAGUE

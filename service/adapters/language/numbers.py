"""Numbers, quantities, counts, times of day and identifiers in a parsed text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from text_to_num import text2num

from service.adapters.language.units import base_unit, currency
from service.domain.syntax import ParsedText, Token
from service.domain.values import Value, ValueKind

_DIGITS = re.compile(
    r"^[$€£¥₹]?(\d{1,3}(?:[, ]\d{3})+|\d+)(\.\d+)?(k|m|bn|am|pm|%|[a-z]{1,3})?$", re.I
)
_CLOCK = re.compile(
    r"\b(\d{1,2})(?:[:.](\d{2}))?\s?(am|pm|a\.m\.|p\.m\.|o'clock)\b|\b(\d{1,2}):(\d{2})\b", re.I
)
_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion".split()
)
_SPECIAL = {"dozen": 12.0, "half": 0.5, "couple": 2.0, "twice": 2.0, "once": 1.0, "thrice": 3.0}
_SCALE = {"k": 1e3, "m": 1e6, "bn": 1e9}
_MORE = {
    "more": ">", "over": ">", "above": ">", "exceeding": ">", "least": ">=", "minimum": ">=",
    "less": "<", "fewer": "<", "under": "<", "below": "<", "most": "<=", "maximum": "<=",
}  # fmt: skip
_ABOUT = frozenset("about around roughly approximately nearly almost circa some ~".split())
_LOOK_BACK = 3
_INCHES, _INCH = 12, 0.0254


def find_numbers(parsed: ParsedText, taken: Iterable[Value]) -> list[Value]:
    """Return the numeric values of a text that are not part of a date already found."""
    blocked = [(v.start, v.end) for v in taken]
    clocks = [v for v in _clock_times(parsed.text) if not _overlaps(v.start, v.end, blocked)]
    blocked += [(v.start, v.end) for v in clocks]
    found = [
        _value(parsed, run)
        for run in _runs(parsed)
        if not _overlaps(run[0].start, run[-1].end, blocked)
    ]
    values = sorted([*clocks, *(v for v in found if v is not None)], key=lambda v: v.start)
    return _join_compounds(parsed.text, values)


def _join_compounds(text: str, values: list[Value]) -> list[Value]:
    """Join "five foot eleven" and "2 hours 30 minutes" into one quantity each."""
    joined: list[Value] = []
    for value in values:
        last = joined[-1] if joined else None
        gap = text[last.end : value.start].strip(" ") if last is not None else None
        if last is not None and (gap == "" or (gap == "and" and last.dimension == "[time]")):
            added = _added(last, value)
            if added is not None:
                number = round((last.number or 0) + added, 9)
                whole = text[last.start : value.end]
                joined[-1] = replace(last, end=value.end, text=whole, number=number, raw=number)
                continue
        joined.append(value)
    return joined


def _added(first: Value, second: Value) -> float | None:
    """Return what the second value adds to the first in base units, or None."""
    if first.dimension == "[length]" and second.kind is not ValueKind.QUANTITY:
        feet = "foot" in first.text.lower() or "feet" in first.text.lower() or "ft" in first.text
        inches = second.number if second.number is not None and second.number < _INCHES else None
        return inches * _INCH if feet and inches is not None else None
    same = first.dimension == second.dimension and first.dimension in (
        "[length]",
        "[time]",
        "[mass]",
    )
    smaller = (second.number or 0) < (first.number or 0)
    return second.number if same and smaller and first.text[-3:] != second.text[-3:] else None


def _overlaps(start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start < b and a < end for a, b in spans)


def _clock_times(text: str) -> Iterator[Value]:
    for m in _CLOCK.finditer(text):
        hour = int(m.group(1) or m.group(4))
        minute = int(m.group(2) or m.group(5) or 0)
        half = (m.group(3) or "").lower()[:1]
        if hour > 24 or minute > 59:  # noqa: PLR2004 - the clock
            continue
        hour = hour % 12 + 12 if half == "p" else hour % 12 if half == "a" else hour
        yield Value(ValueKind.TIME, m.start(), m.end(), m.group(0), number=hour * 60 + minute)


def _runs(parsed: ParsedText) -> Iterator[list[Token]]:
    """Yield maximal runs of tokens that read as one number: "two hundred and fifty"."""
    run: list[Token] = []
    for token in parsed.tokens:
        if _is_number(token) or (run and _joins(parsed, token)):
            run.append(token)
        elif run:
            yield _trim(run)
            run = []
    if run:
        yield _trim(run)


def _is_number(token: Token) -> bool:
    if _DIGITS.match(token.text) or token.lower in _WORDS:
        return not (token.lower == "one" and token.tag in ("PRP", "NN"))
    return token.lower in ("dozen", "twice", "thrice")


def _joins(parsed: ParsedText, token: Token) -> bool:
    after = parsed.tokens[token.index + 1 : token.index + 2]
    follows = bool(after) and after[0].lower in _WORDS
    before = parsed.tokens[token.index - 1].lower
    return follows and (
        token.text == "-" or (token.lower == "and" and before in ("hundred", "thousand"))
    )


def _trim(run: list[Token]) -> list[Token]:
    while run[-1].lower in ("-", "and"):
        run = run[:-1]
    return run


def _magnitude(run: list[Token]) -> float | None:
    if len(run) == 1 and run[0].lower in _SPECIAL:
        return _SPECIAL[run[0].lower]
    first = _DIGITS.match(run[0].text)
    if first:
        number = float(re.sub(r"[, ]", "", first.group(1)) + (first.group(2) or ""))
        number *= _SCALE.get((first.group(3) or "").lower(), 1.0)
        for word in run[1:]:
            number *= {
                "hundred": 1e2,
                "thousand": 1e3,
                "million": 1e6,
                "billion": 1e9,
                "dozen": 12,
            }.get(word.lower, 1)
        return number
    try:
        return float(text2num(" ".join(t.lower for t in run if t.text != "-"), "en"))
    except ValueError:
        return None


def _value(parsed: ParsedText, run: list[Token]) -> Value | None:
    number = _magnitude(run)
    if number is None:
        return None
    comparator, approximate = _hedges(parsed, run[0])
    kind, dimension, unit, factor, end = _measure(parsed, run)
    return Value(
        kind=kind,
        start=run[0].start,
        end=end,
        text=parsed.text[run[0].start : end],
        number=round(number * factor, 9),
        raw=number,
        unit=unit,
        dimension=dimension,
        comparator=comparator,
        approximate=approximate,
    )


def _hedges(parsed: ParsedText, first: Token) -> tuple[str, bool]:
    before = [t.lower for t in parsed.tokens[max(0, first.index - _LOOK_BACK) : first.index]]
    comparator = next((_MORE[w] for w in reversed(before) if w in _MORE), "")
    return comparator, any(w in _ABOUT for w in before)


def _measure(parsed: ParsedText, run: list[Token]) -> tuple[ValueKind, str, str, float, int]:
    """Return (kind, dimension, unit, factor, end offset) of the number in ``run``."""
    last = run[-1]
    glued = _DIGITS.match(run[0].text)
    suffix = (glued.group(3) or "").lower() if glued else ""
    sign = parsed.text[max(0, run[0].start - 1) : run[0].start + 1]
    code = next((currency(c) for c in sign if currency(c)), None)
    following = parsed.tokens[last.index + 1 : last.index + 3]
    unit_token = next((t for t in following if t.text != "-"), None)
    if code is None and unit_token is not None:
        code = currency(unit_token.text)
        if code is not None and not (
            code == "GBP" and base_unit(unit_token.text) and _weight(parsed, unit_token)
        ):
            return ValueKind.QUANTITY, f"currency:{code}", code, 1.0, unit_token.end
    if code is not None:
        return ValueKind.QUANTITY, f"currency:{code}", code, 1.0, last.end
    unit = base_unit(suffix) if suffix and suffix not in _SCALE else None
    end = last.end
    if unit is None and unit_token is not None:
        unit = base_unit(unit_token.text)
        end = unit_token.end if unit else end
    if unit is not None:
        return ValueKind.QUANTITY, unit[0], unit[1], unit[2], end
    return _count_or_name(parsed, run)


def _weight(parsed: ParsedText, token: Token) -> bool:
    around = parsed.tokens[max(0, token.index - 5) : token.index + 4]
    return any(t.lemma in ("weigh", "weight", "lose", "gain", "heavy", "lift") for t in around)


def _count_or_name(parsed: ParsedText, run: list[Token]) -> tuple[ValueKind, str, str, float, int]:
    head = parsed.head_of(run[-1])
    before = parsed.tokens[run[0].index - 1] if run[0].index else None
    if before is not None and before.pos in ("NOUN", "PROPN") and run[-1].head == before.index:
        return ValueKind.IDENTIFIER, f"id:{before.lemma}", "", 1.0, run[-1].end
    if before is not None and before.pos == "PROPN" and run[-1].dep != "nummod":
        return ValueKind.IDENTIFIER, f"id:{before.lemma}", "", 1.0, run[-1].end
    if head.pos == "NOUN" and head.index > run[-1].index and run[-1].dep in ("nummod", "compound"):
        return ValueKind.NUMBER, f"count:{head.lemma}", "", 1.0, run[-1].end
    if head.lower == "at" or (before is not None and before.lower == "at"):
        return ValueKind.TIME, "", "", 60.0, run[-1].end
    return ValueKind.NUMBER, "", "", 1.0, run[-1].end

"""Since when and until when a statement holds, where it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

from service.domain.extraction.relation import Relation
from service.domain.syntax import ParsedText, Token
from service.domain.values import Value, ValueKind

_SINCE = frozenset({"since", "from"})
_UNTIL = frozenset({"until", "till", "by"})


def validity_of(
    parsed: ParsedText,
    relation: Relation,
    tokens: Sequence[Token],
    values: Sequence[Value],
    observed_at: datetime,
    *,
    ahead: bool = False,
) -> tuple[datetime | None, datetime | None]:
    """Return (valid_from, valid_to) of a statement.

    "Since D" and the date of a change are its beginning; the date of an ending, and "until D", its
    end. With ``ahead``, a date without a year means the next one. Dates that are the value itself
    ("the deadline is October 15") say nothing about validity.
    """
    since = until = None
    for value in _own_dates(tokens, values, relation):
        lead = _lead(parsed, value)
        value = _next(value, observed_at) if ahead else value  # noqa: PLW2901 - the same date
        if lead in _UNTIL or (relation.ended and lead not in _SINCE):
            until = _moment(value.until, observed_at)
        else:
            since = _moment(value.since, observed_at)
    return since, until


def _own_dates(tokens: Sequence[Token], values: Sequence[Value], relation: Relation) -> list[Value]:
    if not tokens:
        return []
    start, end = tokens[0].start, tokens[-1].end
    return [
        v
        for v in values
        if v.kind is ValueKind.DATE
        and v.since is not None
        and v.partial != "w"
        and start <= v.start
        and v.end <= end
        and _bare(v.text) not in relation.value.casefold()
    ]


def _next(value: Value, observed_at: datetime) -> Value:
    """Return a date without a year in the year in which it comes next."""
    past = value.until is not None and value.until < observed_at.date()
    if "y" in value.partial or not past or value.since is None or value.until is None:
        return value
    try:
        since, until = (d.replace(year=d.year + 1) for d in (value.since, value.until))
    except ValueError:  # 29 February
        return value
    return replace(value, since=since, until=until)


def _bare(text: str) -> str:
    first, _, rest = text.casefold().rstrip(".").partition(" ")
    return (
        rest
        if first in _SINCE | _UNTIL | {"in", "on", "every", "the"}
        else text.casefold().rstrip(".")
    )


def _lead(parsed: ParsedText, value: Value) -> str:
    first = value.text.split(" ", maxsplit=1)[0].lower()
    if first in _SINCE | _UNTIL:
        return first
    before = parsed.text[: value.start].split()
    return before[-1].lower() if before else ""


def _moment(day: date | None, observed_at: datetime) -> datetime | None:
    if day is None:
        return None
    return datetime.combine(day, time.min, tzinfo=observed_at.tzinfo or UTC)

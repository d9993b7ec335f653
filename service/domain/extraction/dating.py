"""Relative dates in a canonical text: what "yesterday" was when it was said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from service.domain.syntax import Token
from service.domain.values import Value, ValueKind

_RELATIVE = re.compile(
    r"\b(?:ago|last|next|this|past|coming|yesterday|today|tonight|tomorrow|from now)\b", re.I
)
_BEFORE = frozenset("since until till by from of for every in on".split())
_MONTH_LENGTH = 27


def relative_dates(tokens: Sequence[Token], values: Sequence[Value]) -> tuple[frozenset[int], str]:
    """Return (tokens to leave out, absolute date to put at the end) of a clause.

    A memory is read long after it was said, so "yesterday" has to become a day. A span that has no
    short name (a week) is left out; ``valid_from`` keeps it.
    """
    for value in values:
        inside = [t for t in tokens if value.start <= t.start and t.end <= value.end]
        if value.kind is not ValueKind.DATE or not inside or not _RELATIVE.search(value.text):
            continue
        before = next((t for t in tokens if t.index == inside[0].index - 1), None)
        if before is None or before.lower not in _BEFORE:
            return frozenset(t.index for t in inside), _absolute(value)
    return frozenset(), ""


def _absolute(value: Value) -> str:
    since, until = value.since, value.until
    if since is None or until is None:
        return value.text
    if since == until:
        weekday = f"{since:%A} " if f"{since:%A}".lower() in value.text.lower() else ""
        return f"on {weekday}{since.day} {since:%B %Y}"
    if since.day == 1 and timedelta(days=_MONTH_LENGTH) <= until - since < timedelta(days=31):
        return f"in {since:%B %Y}"
    return f"in {since.year}" if (since.month, until.month) == (1, 12) else ""


def dated_value(text: str, values: Sequence[Value]) -> str:
    """Return the value of a fact, as a date where it is a relative one ("tomorrow")."""
    for value in values:
        if value.text.casefold() == text.casefold() and _RELATIVE.search(text):
            return _absolute(value).removeprefix("on ").removeprefix("in ") or text
    return text

"""How values become columns and come back: times, JSON, and text to search in."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Any

import orjson

from service.audit.entry import format_timestamp, parse_timestamp
from service.audit.errors import VerificationError
from service.domain.errors import InvalidInput


def stamp(moment: datetime | None) -> str | None:
    """Return the fixed-width UTC form of a time."""
    return None if moment is None else required_stamp(moment)


def required_stamp(moment: datetime) -> str:
    """Return the fixed-width UTC form of a time that is never missing."""
    try:
        return format_timestamp(moment)
    except (VerificationError, OverflowError) as error:
        raise InvalidInput("time", "must have an offset and be a time that UTC can name") from error


def moment(text: str | None) -> datetime | None:
    """Read a time back."""
    return None if text is None else parse_timestamp(text)


def to_json(value: dict[str, Any] | list[str]) -> str:
    """Return the one text for a JSON value; refuse what would not come back as it was."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, RecursionError) as error:
        raise InvalidInput("JSON", "holds something that JSON cannot") from error
    if orjson.loads(data) != value:
        raise InvalidInput("JSON", "holds something that JSON would change")
    return data.decode()


def from_json(text: str) -> Any:  # noqa: ANN401 - whatever was stored
    """Read a JSON value back."""
    return orjson.loads(text)


def fold(text: str) -> str:
    """Return text as it is searched: the same for every case, width and composition of it."""
    if text.isascii():
        return text.lower()
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    folded = unicodedata.normalize("NFKC", once.casefold())
    return folded.replace("i\u0307", "i")  # a capital dotted I, which folds to an i with two dots

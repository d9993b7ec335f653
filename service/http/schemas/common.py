"""Types that requests and answers share."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime, time
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

T = TypeVar("T")

_DATE_LENGTH = len("2026-01-05")
_MAX_SEQ = 2**53 - 1


class RequestModel(BaseModel):
    """A request body: unknown fields are refused, so that a typo is never dropped in silence."""

    model_config = ConfigDict(extra="forbid")


class AnswerModel(BaseModel):
    """An answer; fields may be added later."""

    model_config = ConfigDict(frozen=True)


def clean_text(text: str) -> str:
    """Return the text in NFC; raises ``ValueError`` for what no text should hold."""
    for position, character in enumerate(text):
        category = unicodedata.category(character)
        if category == "Cs":
            raise ValueError(f"holds half of a surrogate pair at character {position}")
        if category == "Cc" and character not in "\t\n\r":
            raise ValueError(
                f"holds the control character U+{ord(character):04X} at character {position}"
            )
    return unicodedata.normalize("NFC", text)


def filled_text(text: str) -> str:
    """Return the text in NFC; raises ``ValueError`` if nothing is left to read."""
    return _filled(clean_text(text))


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def _strict_string(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be a string")  # noqa: TRY004 - pydantic expects ValueError
    return clean_text(value)


def parse_moment(value: object) -> datetime:
    """Read RFC 3339 with an offset, or a plain date as its midnight in UTC."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not value.isascii():
        raise ValueError("must be an RFC 3339 time such as 2026-11-29T17:00:00Z")
    try:
        if len(value) == _DATE_LENGTH:
            return datetime.combine(date.fromisoformat(value), time(), UTC)
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be an RFC 3339 time such as 2026-11-29T17:00:00Z") from None
    raise ValueError("must have an offset, such as Z or +01:00")


Text = Annotated[str, BeforeValidator(_strict_string), AfterValidator(_filled)]
"""Text that a person wrote: NFC, no control characters, not empty."""

Name = Annotated[Text, Field(min_length=1, max_length=128)]
"""A name or an id that the client chose."""

ShortName = Annotated[Text, Field(min_length=1, max_length=64)]
"""The name or version of something that is listed often."""

Moment = Annotated[
    datetime,
    BeforeValidator(parse_moment, json_schema_input_type=str),
]
"""A time with an offset; a plain date means its midnight in UTC."""

Sequence53 = Annotated[int, Field(ge=0, le=_MAX_SEQ)]
"""The number of an entry in the audit log."""


class FieldProblem(AnswerModel):
    """One field that breaks a rule."""

    field: str
    message: str


class Problem(AnswerModel):
    """An error, as in RFC 9457."""

    type: str = Field(examples=["/problems/invalid-input"])
    title: str = Field(examples=["Invalid input"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["fact: must not be empty"])
    errors: list[FieldProblem]
    request_id: str


class ListAnswer(AnswerModel, Generic[T]):
    """One page of a list."""

    items: list[T]
    next_cursor: str | None = Field(description="Pass as `cursor` for the next page.")
    total: int = Field(description="How many there are in all, under the same filter.")

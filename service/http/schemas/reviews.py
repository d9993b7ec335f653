"""``/reviews``."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from service.domain.memory import ReviewStatus
from service.http.remembering import remembered_out
from service.http.schemas.common import AnswerModel, ListAnswer, Moment, Name, RequestModel, Text
from service.http.schemas.remember import RememberResponse
from service.usecases.reviews import Reviewed

NOTE_EXAMPLE: dict[str, Any] = {"note": "She confirmed it by phone."}


class NoteRequest(RequestModel):
    """Why an item is approved or rejected."""

    note: Text = Field(max_length=1000)
    user_id: Name | None = Field(None, description="If given, it has to be this user's item.")


class ReviewOut(AnswerModel):
    """A fact that the gate could not decide."""

    id: str
    user_id: str
    status: ReviewStatus
    text: str
    reason_code: str
    reason: str
    candidate: dict[str, Any]
    decision_id: str | None
    opened_at: Moment
    closed_at: Moment | None
    closed_by: str | None
    note: str | None
    memory_id: str | None
    result: RememberResponse | None = Field(description="After an approval: what became of it.")


class ReviewListOut(ListAnswer[ReviewOut]):
    """The review queue, newest first."""


def review_out(found: Reviewed) -> ReviewOut:
    """Return an item as it is shown."""
    review = found.review
    same = ReviewOut.model_fields.keys() & review.__dataclass_fields__.keys()
    return ReviewOut(
        **{name: getattr(review, name) for name in same} | {"candidate": dict(review.candidate)},
        user_id=found.user_id,
        result=remembered_out(found.result) if found.result else None,
    )

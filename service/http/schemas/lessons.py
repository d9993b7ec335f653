"""``/lessons`` and ``/attributes``."""

from __future__ import annotations

from typing import Any

from pydantic import Field, StrictBool

from service.domain.memory import Lesson
from service.http.schemas.common import AnswerModel, ListAnswer, Moment, Name, RequestModel, Text

LESSON_EXAMPLE: dict[str, Any] = {
    "user_id": None,
    "text": "Run the migrations before the tests.",
    "evidence": "repo://docs/operations.md#L10-L18",
    "applies_to": ["tests", "migrations"],
}
ATTRIBUTE_EXAMPLE: dict[str, Any] = {"functional": True}


class LessonRequest(RequestModel):
    """Something that was learned once."""

    user_id: Name | None = Field(None, description="Whose lesson; everybody's without it.")
    text: Text = Field(max_length=2000)
    evidence: Text = Field(
        description="`repo://path#L40-L82`, a URL, an issue id, or `user said 2026-11-29`."
    )
    applies_to: list[Name] = Field(default_factory=list, max_length=50)


class LessonOut(AnswerModel):
    """A lesson."""

    id: str
    for_everybody: bool
    text: str
    evidence: str
    applies_to: list[str]
    recorded_at: Moment
    actor: str


class LessonListOut(ListAnswer[LessonOut]):
    """Lessons, newest first."""


class AttributeRequest(RequestModel):
    """Whether an attribute holds one value per subject."""

    functional: StrictBool


class AttributeOut(AnswerModel):
    """An attribute."""

    attribute: str
    functional: bool
    declared: bool = Field(description="By the tenant; otherwise it is built in.")


class AttributeListOut(ListAnswer[AttributeOut]):
    """Attributes, by name; one page holds them all."""


def lesson_out(lesson: Lesson) -> LessonOut:
    """Return a lesson as it is shown."""
    return LessonOut(
        id=lesson.id,
        for_everybody=lesson.subject_id is None,
        text=lesson.text,
        evidence=lesson.evidence,
        applies_to=list(lesson.applies_to),
        recorded_at=lesson.recorded_at,
        actor=lesson.actor,
    )

"""``/memories/conflicts``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictFloat, StrictInt

from service.domain.memory import ConflictStatus
from service.http.schemas.common import AnswerModel, ListAnswer, Moment, Name, RequestModel, Text
from service.http.schemas.memory import MemoryOut, memory_out
from service.usecases.conflicts import Disagreement

MARK_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "first": "mem_01kb8m4zq3r5s7t9v1w3x5y7z9",
    "second": "mem_01kb8m5zq3r5s7t9v1w3x5y7z9",
    "reason": "Two different homes.",
    "confidence": 0.9,
}
RESOLVE_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "keep": "mem_01kb8m5zq3r5s7t9v1w3x5y7z9",
    "reason": "Asked her.",
}


class MarkRequest(RequestModel):
    """Two memories that cannot both be true."""

    user_id: Name | None = Field(None, description="Here or in the query.")
    first: Name
    second: Name
    reason: Text = Field(max_length=1000)
    confidence: Annotated[StrictFloat | StrictInt, Field(ge=0, le=1)] = 1.0


class ResolveRequest(RequestModel):
    """Which of the two to keep."""

    user_id: Name | None = Field(None, description="Here or in the query.")
    keep: Name = Field(description="The id of one of the two memories, or `both`.")
    reason: Text = Field(max_length=1000)


class ConflictOut(AnswerModel):
    """A disagreement, with its memories."""

    id: str
    subject: str | None
    attribute: str | None
    first: str
    second: str
    reason: str
    confidence: float
    status: ConflictStatus
    marked_at: Moment
    marked_by: str
    kept: str | None
    resolution: str | None
    resolved_at: Moment | None
    resolved_by: str | None
    memories: list[MemoryOut]


class ConflictListOut(ListAnswer[ConflictOut]):
    """Disagreements, newest first."""


def conflict_out(found: Disagreement) -> ConflictOut:
    """Return a disagreement as it is shown."""
    conflict = found.conflict
    same = ConflictOut.model_fields.keys() & conflict.__dataclass_fields__.keys()
    first = found.memories[0].memory if found.memories else None
    return ConflictOut(
        **{name: getattr(conflict, name) for name in same},
        subject=first.triple.subject if first else None,
        attribute=first.triple.attribute if first else None,
        memories=[memory_out(m) for m in found.memories],
    )

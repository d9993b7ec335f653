"""``/users/{user_id}/export``."""

from __future__ import annotations

from typing import Any

from service.domain.memory import Conflict
from service.http.schemas.audit import EntryOut, entry_out
from service.http.schemas.common import AnswerModel, Moment
from service.http.schemas.lessons import LessonOut, lesson_out
from service.http.schemas.memory import (
    MemoryOut,
    StepOut,
    TurnOut,
    memory_out,
    step_out,
    turn_out,
)
from service.http.schemas.reviews import ReviewOut, review_out
from service.usecases.export_user import Holdings
from service.usecases.reviews import Reviewed


class ExportOut(AnswerModel):
    """Everything that is held about one user, from one snapshot."""

    format: str = "groundkeeper-export/1"
    user_id: str
    subject: str | None
    exported_at: Moment
    turns: list[TurnOut]
    memories: list[MemoryOut]
    events: list[StepOut]
    conflicts: list[dict[str, Any]]
    reviews: list[ReviewOut]
    lessons: list[LessonOut]
    audit: list[EntryOut]


def export_out(held: Holdings) -> ExportOut:
    """Return what is held as it is shown."""
    return ExportOut(
        user_id=held.user_id,
        subject=held.subject_id,
        exported_at=held.exported_at,
        turns=[turn_out(t) for t in held.turns],
        memories=[memory_out(m) for m in held.memories],
        events=[step_out(s) for s in held.steps],
        conflicts=[_conflict(c) for c in held.conflicts],
        reviews=[review_out(Reviewed(r, held.user_id)) for r in held.reviews],
        lessons=[lesson_out(x) for x in held.lessons],
        audit=[entry_out(e) for e in held.entries],
    )


def _conflict(conflict: Conflict) -> dict[str, Any]:
    return {name: getattr(conflict, name) for name in conflict.__dataclass_fields__}

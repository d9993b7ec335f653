"""Lessons in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, false, func, or_, select

from service.adapters.db.columns import from_json, required_stamp, to_json
from service.adapters.db.memory_tables import lessons
from service.adapters.db.repository import Repository
from service.audit.entry import parse_timestamp
from service.domain.memory import Lesson
from service.ports.paging import Page, PageRequest


class SqlLessons(Repository):
    """Implements ``LessonStore``."""

    def add(self, lesson: Lesson) -> None:
        """Store a lesson; raises ``Conflict`` when the id exists."""
        self._add(
            "lesson",
            lessons,
            id=lesson.id,
            subject_id=lesson.subject_id,
            text=lesson.text,
            evidence=lesson.evidence,
            applies_to=to_json(list(lesson.applies_to)),
            recorded_at=required_stamp(lesson.recorded_at),
            actor=lesson.actor,
        )

    def list(
        self, page: PageRequest, *, subject_id: str | None = None, applies_to: str | None = None
    ) -> Page[Lesson]:
        """List lessons for everybody and the user's own, newest first."""
        everybody = lessons.c.subject_id.is_(None)
        own = false() if subject_id is None else lessons.c.subject_id == subject_id
        query = self._rows_of(lessons).where(or_(everybody, own))
        if applies_to is not None:
            named = func.json_each(lessons.c.applies_to).table_valued("value")
            query = query.where(select(named.c.value).where(named.c.value == applies_to).exists())
        return self._page(query, lessons, page, lesson_of)


def lesson_of(row: Row[Any]) -> Lesson:
    """Read a lesson back."""
    return Lesson(
        id=row.id,
        subject_id=row.subject_id,
        text=row.text,
        evidence=row.evidence,
        applies_to=tuple(from_json(row.applies_to)),
        recorded_at=parse_timestamp(row.recorded_at),
        actor=row.actor,
    )

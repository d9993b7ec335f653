"""Everything that is held about one user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from service.domain.memory import Conflict, Lesson, MemoryEvent, Review, Turn
from service.ports.clock import Clock
from service.ports.memory import MemoryFilter
from service.ports.storage import AuditFilter, Database, Page, PageRequest, Scope, Transaction
from service.usecases.drift import Seen, seen_memory
from service.usecases.read_audit import AuditView, view_of

_PAGE = 200
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Holdings:
    """One consistent snapshot of everything about a user; empty for somebody unknown."""

    user_id: str
    subject_id: str | None
    exported_at: datetime
    turns: tuple[Turn, ...] = ()
    memories: tuple[Seen, ...] = ()
    steps: tuple[MemoryEvent, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    reviews: tuple[Review, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    entries: tuple[AuditView, ...] = ()


class ExportUser:
    """The use case behind ``GET /users/{user_id}/export``."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def run(self, scope: Scope, user_id: str) -> Holdings:
        """Return everything that is held about a user, from one snapshot."""
        return self._database.read(scope, lambda tx: self._collect(tx, user_id))

    def _collect(self, tx: Transaction, user_id: str) -> Holdings:
        subject = tx.subjects.find(user_id)
        now = self._clock.now()
        if subject is None:
            return Holdings(user_id, None, now)
        everything = MemoryFilter(subject, statuses=())
        memories = tuple(_all(lambda page: tx.memories.list(everything, page)))
        own = AuditFilter(subject_id=subject)
        return Holdings(
            user_id=user_id,
            subject_id=subject,
            exported_at=now,
            turns=tuple(tx.turns.of_subject(subject)),
            memories=tuple(seen_memory(tx, m) for m in memories),
            steps=tuple(tx.memories.history(subject, [m.id for m in memories])),
            conflicts=tuple(_all(lambda p: tx.conflicts.list(subject, p, open_only=False))),
            reviews=tuple(_all(lambda page: tx.reviews.list(page, subject_id=subject))),
            lessons=tuple(
                lesson
                for lesson in _all(lambda page: tx.lessons.list(page, subject_id=subject))
                if lesson.subject_id == subject
            ),
            entries=tuple(view_of(r) for r in _all(lambda page: tx.audit.list(own, page))),
        )


def _all(read: Callable[[PageRequest], Page[T]]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        page = read(PageRequest(_PAGE, cursor))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return

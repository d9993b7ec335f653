"""Lessons: what was learned once, with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.digests import lesson_digest
from service.domain.errors import InvalidInput
from service.domain.guards.secrets import holds_secret
from service.domain.memory import Lesson
from service.domain.pointers import check_pointer
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import (
    Database,
    EntryDraft,
    Page,
    PageRequest,
    Scope,
    StoredAnswer,
    Transaction,
)
from service.usecases.once import Once, write_once


@dataclass(frozen=True, slots=True)
class LessonCommand:
    """A lesson to keep, of one user's or, without ``user_id``, for everybody of the tenant."""

    user_id: str | None
    text: str
    evidence: str
    applies_to: Sequence[str]


class ManageLessons:
    """The use cases behind ``/lessons``."""

    def __init__(self, *, database: Database, clock: Clock, identifiers: Identifiers) -> None:
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def add(
        self, scope: Scope, command: LessonCommand, once: Once[Lesson] | None = None
    ) -> Lesson | StoredAnswer:
        """Keep a lesson; raises ``InvalidInput`` for malformed evidence or a secret."""
        check_pointer(command.evidence)
        if holds_secret(command.text):
            raise InvalidInput("text", "holds what looks like a secret")

        def work(tx: Transaction) -> Lesson:
            lesson = Lesson(
                id=self._identifiers.new("les"),
                subject_id=tx.subjects.id_for(command.user_id) if command.user_id else None,
                text=command.text,
                evidence=command.evidence,
                applies_to=tuple(dict.fromkeys(command.applies_to)),
                recorded_at=self._clock.now(),
                actor=scope.actor,
            )
            tx.lessons.add(lesson)
            tx.audit.append(_recorded(lesson), {})
            return lesson

        return write_once(self._database, scope, self._clock, once, work)

    def list(
        self, scope: Scope, user_id: str | None, applies_to: str | None, page: PageRequest
    ) -> Page[Lesson]:
        """Return the lessons for everybody and, with ``user_id``, that user's own."""

        def work(tx: Transaction) -> Page[Lesson]:
            subject = tx.subjects.find(user_id) if user_id is not None else None
            return tx.lessons.list(page, subject_id=subject, applies_to=applies_to)

        return self._database.read(scope, work)


def _recorded(lesson: Lesson) -> EntryDraft:
    return EntryDraft(
        kind="lesson.recorded",
        actor=lesson.actor,
        subject=lesson.subject_id,
        memory=(lesson.id,),
        state_after=lesson_digest(lesson),
    )

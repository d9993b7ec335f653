"""Stores for memories and what surrounds them; each is reached through ``Transaction``.

Every method works in the transaction's tenant, and, where it takes a ``subject_id``, for that user
only. ``None`` stands for an unknown id and for somebody else's alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from service.domain.memory import (
    Conflict,
    Lesson,
    Memory,
    MemoryEvent,
    MemoryStatus,
    Review,
    ReviewStatus,
    Turn,
)
from service.domain.recall.outline import Outlines
from service.ports.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories to list; all given conditions hold. Times are about ``recorded_at``.

    ``q`` matches text case-insensitively as a substring; ``statuses`` empty means every status.
    """

    subject_id: str
    agent_id: str | None = None
    session_id: str | None = None
    statuses: tuple[MemoryStatus, ...] = (MemoryStatus.ACTIVE,)
    type: str | None = None
    subject: str | None = None
    attribute: str | None = None
    contested: bool | None = None
    q: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class MemoryStore(Protocol):
    """Memories and their history."""

    def add(self, memory: Memory) -> Memory:
        """Store a new memory and return it as it reads back; its owner is taken as given."""
        ...

    def update(self, memory: Memory) -> None:
        """Write what can change: status, lineage, validity, times, state hash, contested."""
        ...

    def get(self, subject_id: str, memory_id: str) -> Memory | None:
        """Return one memory of one user."""
        ...

    def many(self, subject_id: str, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Return those of the memories that exist, in the order asked."""
        ...

    def outlines(self, subject_id: str) -> Outlines:
        """Return every memory of a user, of any status, as recall looks at it; oldest first."""
        ...

    def list(self, which: MemoryFilter, page: PageRequest) -> Page[Memory]:
        """List memories, newest first; ``total`` counts under the same filter."""
        ...

    def active(self, subject_id: str) -> Sequence[Memory]:
        """Return every active memory of a user, oldest first."""
        ...

    def about(self, subject_id: str, subject: str) -> Sequence[Memory]:
        """Return every memory of any status about one triple subject, oldest first."""
        ...

    def active_about(self, subject_id: str, subject: str, attribute: str) -> frozenset[str]:
        """Return the ids of a user's active memories about one attribute of a triple subject."""
        ...

    def of_turn(self, subject_id: str, turn_id: str) -> Sequence[Memory]:
        """Return the memories that came from one turn."""
        ...

    def record(self, event: MemoryEvent) -> None:
        """Add a step to a memory's history."""
        ...

    def history(self, subject_id: str, memory_ids: Sequence[str]) -> Sequence[MemoryEvent]:
        """Return the steps of these memories, oldest first."""
        ...

    def scopes(self, subject_id: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the agent ids and the session ids that this user's memories and turns carry."""
        ...


class TurnStore(Protocol):
    """Messages as they were received."""

    def add(self, turn: Turn) -> None:
        """Store a turn."""
        ...

    def get(self, turn_id: str) -> Turn | None:
        """Return one turn of this tenant."""
        ...

    def many(self, turn_ids: Sequence[str]) -> Mapping[str, Turn]:
        """Return those of the turns that exist, by id; for a few hundred at most."""
        ...

    def of_subject(self, subject_id: str) -> Sequence[Turn]:
        """Return every turn of a user, oldest first."""
        ...


class ConflictStore(Protocol):
    """Disagreements between memories of one user."""

    def add(self, conflict: Conflict) -> None:
        """Store a conflict."""
        ...

    def update(self, conflict: Conflict) -> None:
        """Write the resolution of a conflict."""
        ...

    def get(self, subject_id: str, conflict_id: str) -> Conflict | None:
        """Return one conflict of one user."""
        ...

    def list(self, subject_id: str, page: PageRequest, *, open_only: bool = True) -> Page[Conflict]:
        """List conflicts, newest first."""
        ...

    def open_with(self, subject_id: str, memory_id: str) -> Sequence[Conflict]:
        """Return the open conflicts that a memory is part of."""
        ...


class ReviewStore(Protocol):
    """Candidates that wait for a person."""

    def add(self, review: Review) -> None:
        """Open an item."""
        ...

    def close(self, review: Review) -> bool:
        """Write an item's end if it is still open; return whether it was (exactly once)."""
        ...

    def get(self, review_id: str) -> Review | None:
        """Return one item of this tenant."""
        ...

    def list(
        self,
        page: PageRequest,
        *,
        subject_id: str | None = None,
        status: ReviewStatus | None = None,
    ) -> Page[Review]:
        """List items, newest first."""
        ...


class AttributeStore(Protocol):
    """Which attributes hold one value per subject, where the tenant said so."""

    def set(self, attribute: str, *, functional: bool) -> None:
        """Declare an attribute; the last declaration holds."""
        ...

    def all(self) -> dict[str, bool]:
        """Return the tenant's declarations."""
        ...


class LessonStore(Protocol):
    """Lessons with what they apply to."""

    def add(self, lesson: Lesson) -> None:
        """Store a lesson."""
        ...

    def list(
        self, page: PageRequest, *, subject_id: str | None = None, applies_to: str | None = None
    ) -> Page[Lesson]:
        """List lessons for everybody and, with ``subject_id``, that user's own, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One change that the vector index has not seen yet; applying it twice changes nothing."""

    position: int
    memory_id: str


class OutboxStore(Protocol):
    """What the vector index still has to take in, written with the change itself."""

    def put(self, memory_id: str) -> None:
        """Note that a memory changed."""
        ...

    def pending(self, limit: int) -> Sequence[OutboxItem]:
        """Return the oldest changes first."""
        ...

    def done(self, up_to: int) -> None:
        """Forget the changes up to and with a position."""
        ...

"""Disagreements between memories: list them, mark them, resolve them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.domain import memory_state
from service.domain.errors import Conflict as Clash
from service.domain.errors import InvalidInput, NotFound
from service.domain.memory import Conflict, ConflictStatus, Memory, MemoryAction, MemoryStatus
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Database, Page, PageRequest, Scope, StoredAnswer, Transaction
from service.usecases.drift import Seen, seen_memory
from service.usecases.journal import Journal, Step
from service.usecases.lineage import Which, find_memory
from service.usecases.once import Once, write_once

BOTH = "both"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A conflict with its two memories; one that was erased is missing."""

    conflict: Conflict
    memories: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class Marking:
    """Two memories that somebody says cannot both be true."""

    user_id: str
    first: str
    second: str
    reason: str
    confidence: float


class ManageConflicts:
    """The use cases behind ``/memories/conflicts``."""

    def __init__(self, *, database: Database, clock: Clock, identifiers: Identifiers) -> None:
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def list(
        self, scope: Scope, user_id: str, page: PageRequest, *, open_only: bool
    ) -> Page[Disagreement]:
        """Return a user's conflicts, newest first."""

        def work(tx: Transaction) -> Page[Disagreement]:
            subject = tx.subjects.find(user_id)
            if subject is None:
                return Page((), None, 0)
            found = tx.conflicts.list(subject, page, open_only=open_only)
            items = tuple(_disagreement(tx, c) for c in found.items)
            return Page(items, found.next_cursor, found.total)

        return self._database.read(scope, work)

    def mark(
        self, scope: Scope, marking: Marking, once: Once[Disagreement] | None = None
    ) -> Disagreement | StoredAnswer:
        """Open a conflict between two active memories.

        Raises ``NotFound`` for either memory, ``InvalidInput`` for one memory twice, and
        ``Conflict`` if one is not active or the same conflict is open.
        """
        if marking.first == marking.second:
            raise InvalidInput("second", "must be another memory than first")

        def work(tx: Transaction) -> Disagreement:
            first, second = (
                _active(tx, Which(marking.user_id, i)) for i in (marking.first, marking.second)
            )
            subject, now = first.owner.subject_id, self._clock.now()
            if any({c.first, c.second} == {first.id, second.id} for c in _open(tx, first)):
                raise Clash("These two memories are in an open conflict already.")
            conflict = Conflict(
                id=self._identifiers.new("con"),
                subject_id=subject,
                first=first.id,
                second=second.id,
                reason=marking.reason,
                confidence=marking.confidence,
                status=ConflictStatus.OPEN,
                marked_at=now,
                marked_by=scope.actor,
            )
            Journal(tx, subject, now).mark(conflict, first, second)
            return _disagreement(tx, conflict)

        return write_once(self._database, scope, self._clock, once, work)

    def resolve(
        self,
        scope: Scope,
        which: Which,
        keep: str,
        reason: str,
        once: Once[Disagreement] | None = None,
    ) -> Disagreement | StoredAnswer:
        """Close a conflict (``which`` names it): keep one memory, or ``both``.

        The other memory is superseded by the one that is kept.

        Raises:
            NotFound: no such conflict.
            Conflict: it is resolved already.
            InvalidInput: ``keep`` is neither of the two.
        """

        def work(tx: Transaction) -> Disagreement:
            subject = tx.subjects.find(which.user_id)
            conflict = tx.conflicts.get(subject, which.memory_id) if subject else None
            if subject is None or conflict is None:
                raise NotFound("conflict")
            if conflict.status is ConflictStatus.RESOLVED:
                raise Clash("This conflict is resolved already.")
            if keep not in (conflict.first, conflict.second, BOTH):
                raise InvalidInput("keep", f"must be one of the two memories, or {BOTH!r}")
            return self._resolve(tx, conflict, keep, reason)

        return write_once(self._database, scope, self._clock, once, work)

    def _resolve(self, tx: Transaction, conflict: Conflict, keep: str, reason: str) -> Disagreement:
        now, subject = self._clock.now(), conflict.subject_id
        journal = Journal(tx, subject, now)
        closed = replace(
            conflict,
            status=ConflictStatus.RESOLVED,
            kept=None if keep == BOTH else keep,
            resolution=reason,
            resolved_at=now,
            resolved_by=tx.scope.actor,
        )
        journal.resolve(closed)
        if keep != BOTH:
            loser = conflict.second if keep == conflict.first else conflict.first
            memory = tx.memories.get(subject, loser)
            if memory is not None and memory.status is MemoryStatus.ACTIVE:
                gone = memory_state.superseded(memory, by=keep, reason=reason, at=now, until=None)
                journal.write(Step(MemoryAction.SUPERSEDED, gone, memory, reason, keep))
                journal.settle(loser, "one of the two is no longer active")
        return _disagreement(tx, closed)


def _disagreement(tx: Transaction, conflict: Conflict) -> Disagreement:
    found = tx.memories.many(conflict.subject_id, [conflict.first, conflict.second])
    return Disagreement(conflict, tuple(seen_memory(tx, m) for m in found))


def _active(tx: Transaction, which: Which) -> Memory:
    memory = find_memory(tx, which)
    if memory.status is not MemoryStatus.ACTIVE:
        raise Clash(f"{memory.id} is {memory.status.value}; only active memories can disagree.")
    return memory


def _open(tx: Transaction, memory: Memory) -> list[Conflict]:
    return list(tx.conflicts.open_with(memory.owner.subject_id, memory.id))

"""Read memories, their history and their turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.errors import NotFound
from service.domain.memory import Memory, MemoryEvent, MemoryStatus, Turn
from service.ports.memory import MemoryFilter
from service.ports.storage import Database, Page, PageRequest, Scope, Transaction
from service.usecases.drift import Seen, seen_memory
from service.usecases.lineage import Which, find_memory


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Which of a user's memories to list; see ``MemoryFilter``."""

    user_id: str
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


@dataclass(frozen=True, slots=True)
class Story:
    """Memories that belong together, oldest first, with everything that happened to them."""

    memories: tuple[Seen, ...]
    steps: tuple[MemoryEvent, ...]


class ReadMemories:
    """The use cases behind reading memories."""

    def __init__(self, *, database: Database) -> None:
        self._database = database

    def list(self, scope: Scope, query: MemoryQuery, page: PageRequest) -> Page[Seen]:
        """Return a user's memories, newest first."""

        def work(tx: Transaction) -> Page[Seen]:
            subject = tx.subjects.find(query.user_id)
            if subject is None:
                return Page((), None, 0)
            found = tx.memories.list(_filter(subject, query), page)
            items = tuple(seen_memory(tx, m) for m in found.items)
            return Page(items, found.next_cursor, found.total)

        return self._database.read(scope, work)

    def get(self, scope: Scope, which: Which) -> Seen:
        """Return one memory; raises ``NotFound``."""
        return self._database.read(scope, lambda tx: seen_memory(tx, find_memory(tx, which)))

    def history(self, scope: Scope, which: Which) -> Story:
        """Return a memory's whole line, before and after it; raises ``NotFound``."""

        def work(tx: Transaction) -> Story:
            memory = find_memory(tx, which)
            return _story(tx, memory.owner.subject_id, _line(tx, memory))

        return self._database.read(scope, work)

    def about(self, scope: Scope, user_id: str, about: str) -> Story:
        """Return everything that ever happened to one subject of a user's memories."""

        def work(tx: Transaction) -> Story:
            subject = tx.subjects.find(user_id)
            if subject is None:
                return Story((), ())
            return _story(tx, subject, tx.memories.about(subject, about))

        return self._database.read(scope, work)

    def turn(self, scope: Scope, user_id: str, turn_id: str) -> Turn:
        """Return a message as it was received; raises ``NotFound``."""

        def work(tx: Transaction) -> Turn:
            turn = tx.turns.get(turn_id)
            if turn is None or turn.owner.user_id != user_id:
                raise NotFound("turn")
            return turn

        return self._database.read(scope, work)


def _filter(subject: str, query: MemoryQuery) -> MemoryFilter:
    return MemoryFilter(
        subject,
        agent_id=query.agent_id,
        session_id=query.session_id,
        statuses=query.statuses,
        type=query.type,
        subject=query.subject,
        attribute=query.attribute,
        contested=query.contested,
        q=query.q,
        since=query.since,
        until=query.until,
    )


def _line(tx: Transaction, memory: Memory) -> list[Memory]:
    """Return the memories that led to this one and that followed it, oldest first."""
    found, waiting = {memory.id: memory}, [memory]
    while waiting:
        current = waiting.pop()
        linked = [*current.supersedes, *([current.replaced_by] if current.replaced_by else [])]
        new = [i for i in linked if i not in found]
        for other in tx.memories.many(memory.owner.subject_id, new):
            found[other.id] = other
            waiting.append(other)
    return sorted(found.values(), key=lambda m: (m.recorded_at, m.id))


def _story(tx: Transaction, subject_id: str, memories: Sequence[Memory]) -> Story:
    steps = tx.memories.history(subject_id, [m.id for m in memories])
    return Story(tuple(seen_memory(tx, m) for m in memories), tuple(steps))

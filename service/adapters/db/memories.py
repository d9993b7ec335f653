"""Memories and their history in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, Table, bindparam, func, literal_column, select, union

from service.adapters.db.columns import fold, required_stamp
from service.adapters.db.listed import json_list, listed
from service.adapters.db.memory_rows import (
    changing_row,
    event_of,
    event_row,
    memory_of,
    memory_row,
    read_back,
)
from service.adapters.db.memory_tables import events, memories, turns
from service.adapters.db.outlines import OUTLINED, outlines_of
from service.adapters.db.owners import with_owner
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.domain.errors import NotFound
from service.domain.memory import Memory, MemoryEvent, MemoryStatus
from service.domain.recall.outline import Outlines
from service.ports.memory import MemoryFilter
from service.ports.paging import Page, PageRequest

FEW = 8  # so many single look-ups are faster than one statement that has to be put together
GET = Prepared(
    with_owner(select(memories), memories).where(
        memories.c.tenant == bindparam("tenant"), memories.c.id == bindparam("memory_id")
    )
)
ACTIVE_ABOUT = Prepared(
    select(memories.c.id).where(
        memories.c.tenant == bindparam("tenant"),
        memories.c.subject_id == bindparam("subject_id"),
        memories.c.triple_subject == bindparam("triple_subject"),
        memories.c.attribute == bindparam("attribute"),
        memories.c.status == literal_column(f"'{MemoryStatus.ACTIVE.value}'"),
    )
)
MANY = Prepared(
    with_owner(select(memories), memories).where(
        memories.c.tenant == bindparam("tenant"),
        memories.c.id.in_(listed("ids")),
    )
)
OUTLINES = Prepared(
    select(*OUTLINED)
    .where(
        memories.c.tenant == bindparam("tenant"), memories.c.subject_id == bindparam("subject_id")
    )
    .order_by(memories.c.position)
)
STEPS = Prepared(
    select(events)
    .where(
        events.c.tenant == bindparam("tenant"),
        events.c.subject_id == bindparam("subject_id"),
        events.c.memory_id == bindparam("memory_id"),
    )
    .order_by(events.c.position)
)
STEPS_OF_MANY = Prepared(
    select(events).where(
        events.c.tenant == bindparam("tenant"),
        events.c.subject_id == bindparam("subject_id"),
        events.c.memory_id.in_(listed("ids")),
    )
)


class SqlMemories(Repository):
    """Implements ``MemoryStore``."""

    def add(self, memory: Memory) -> Memory:
        """Store a new memory and return it as it reads back.

        Raises ``Conflict`` when the id exists or the turn does not.
        """
        row = memory_row(memory)
        self._add("memory", memories, **row)
        return read_back(row, memory.owner)

    def update(self, memory: Memory) -> None:
        """Write what can change; raises ``NotFound`` for what is not there."""
        mine = memories.c.subject_id == memory.owner.subject_id
        if not self._change(memories, mine, memories.c.id == memory.id, **changing_row(memory)):
            raise NotFound("memory")

    def get(self, subject_id: str, memory_id: str) -> Memory | None:
        """Return one memory of one user."""
        row = self._one(GET, memory_id=memory_id)
        return None if row is None or row.subject_id != subject_id else memory_of(row)

    def many(self, subject_id: str, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Return those of the memories that exist, in the order asked, each once."""
        if len(memory_ids) <= FEW:
            asked = (self.get(subject_id, i) for i in dict.fromkeys(memory_ids))
            return [memory for memory in asked if memory is not None]
        # The user is compared here: asked for both, SQLite reads all of theirs (5 ms at 10,000).
        rows = self._several(MANY, ids=json_list(memory_ids))
        found = {row.id: memory_of(row) for row in rows if row.subject_id == subject_id}
        return [found[i] for i in dict.fromkeys(memory_ids) if i in found]

    def outlines(self, subject_id: str) -> Outlines:
        """Return every memory of a user, of any status, as recall looks at it; oldest first."""
        return outlines_of(self._tuples(OUTLINES, subject_id=subject_id))

    def list(self, which: MemoryFilter, page: PageRequest) -> Page[Memory]:
        """List memories, newest first."""
        return self._page(_filtered(self._of(which.subject_id), which), memories, page, memory_of)

    def active(self, subject_id: str) -> Sequence[Memory]:
        """Return every active memory of a user, oldest first."""
        status = memories.c.status == MemoryStatus.ACTIVE.value
        return self._oldest_first(self._of(subject_id).where(status))

    def about(self, subject_id: str, subject: str) -> Sequence[Memory]:
        """Return every memory about one triple subject, oldest first."""
        return self._oldest_first(self._of(subject_id).where(memories.c.triple_subject == subject))

    def active_about(self, subject_id: str, subject: str, attribute: str) -> frozenset[str]:
        """Return the ids of a user's active memories about one attribute of one subject."""
        rows = self._several(
            ACTIVE_ABOUT, subject_id=subject_id, triple_subject=subject, attribute=attribute
        )
        return frozenset(row.id for row in rows)

    def of_turn(self, subject_id: str, turn_id: str) -> Sequence[Memory]:
        """Return the memories that came from one turn, oldest first."""
        return self._oldest_first(self._of(subject_id).where(memories.c.turn_id == turn_id))

    def record(self, event: MemoryEvent) -> None:
        """Add a step to a memory's history; raises ``Conflict`` for an unknown memory."""
        self._add("step", events, **event_row(event))

    def history(self, subject_id: str, memory_ids: Sequence[str]) -> Sequence[MemoryEvent]:
        """Return the steps of these memories, oldest first."""
        rows: list[Any] = []
        if len(memory_ids) <= FEW:
            for i in dict.fromkeys(memory_ids):
                rows += self._several(STEPS, subject_id=subject_id, memory_id=i)
            return [event_of(row) for row in sorted(rows, key=lambda row: int(row.position))]
        rows += self._several(STEPS_OF_MANY, subject_id=subject_id, ids=json_list(memory_ids))
        return [event_of(row) for row in sorted(rows, key=lambda row: int(row.position))]

    def scopes(self, subject_id: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the agent ids and the session ids of this user's memories and turns."""
        rows = self._execute(union(*(self._scopes(t, subject_id) for t in (memories, turns)))).all()
        agents = frozenset(row.agent_id for row in rows) - {None}
        return agents, frozenset(row.session_id for row in rows) - {None}

    def _scopes(self, table: Table, subject_id: str) -> Select[Any]:
        rows = self._rows_of(table).where(table.c.subject_id == subject_id)
        return rows.with_only_columns(table.c.agent_id, table.c.session_id)

    def _of(self, subject_id: str) -> Select[Any]:
        return with_owner(self._rows_of(memories), memories).where(
            memories.c.subject_id == subject_id
        )

    def _oldest_first(self, query: Select[Any]) -> Sequence[Memory]:
        return [memory_of(row) for row in self._execute(query.order_by(memories.c.position)).all()]


def _filtered(query: Select[Any], which: MemoryFilter) -> Select[Any]:
    exact = {
        "agent_id": which.agent_id,
        "session_id": which.session_id,
        "type": which.type,
        "triple_subject": which.subject,
        "attribute": which.attribute,
        "contested": which.contested,
    }
    for name, value in exact.items():
        if value is not None:
            query = query.where(memories.c[name] == value)
    if which.statuses:
        query = query.where(memories.c.status.in_([status.value for status in which.statuses]))
    if which.q is not None:
        query = query.where(func.instr(memories.c.folded, fold(which.q)) > 0)
    if which.since is not None:
        query = query.where(memories.c.recorded_at >= required_stamp(which.since))
    if which.until is not None:
        query = query.where(memories.c.recorded_at < required_stamp(which.until))
    return query

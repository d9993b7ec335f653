"""The business tables of every tenant as verification reads them, each row with its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sqlalchemy import Row, Select, Table, and_, func, select

from service.adapters.db.conflicts import conflict_of
from service.adapters.db.lessons import lesson_of
from service.adapters.db.memory_rows import memory_of
from service.adapters.db.memory_tables import conflicts, events, lessons, memories, reviews, turns
from service.adapters.db.repository import Repository
from service.adapters.db.reviews import review_of
from service.adapters.db.tables import decision, subject
from service.audit.rows import DecisionRow, StateRow, StepRow
from service.domain.digests import conflict_digest, lesson_digest, review_digest, state_digest
from service.domain.errors import InvalidInput

T = TypeVar("T")
DECISIONS = select(
    decision.c.tenant,
    decision.c.id,
    decision.c.kind,
    decision.c.seq,
    decision.c.subject_id,
    decision.c.verdict,
    decision.c.reason_code,
    decision.c.policy_fingerprint,
).order_by(decision.c.seq)
STEPS = select(
    events.c.tenant,
    events.c.memory_id,
    events.c.action,
    func.coalesce(events.c.seq, -1).label("seq"),
    events.c.subject_id,
    events.c.actor,
).order_by("seq")
# Outer joins: a memory whose user or turn is gone has to be found, not left out.
OWNER = and_(subject.c.tenant == memories.c.tenant, subject.c.id == memories.c.subject_id)
TURN = and_(turns.c.tenant == memories.c.tenant, turns.c.id == memories.c.turn_id)
MEMORIES = (
    select(memories, subject.c.user_id)
    .join_from(memories, subject, OWNER, isouter=True)
    .order_by(memories.c.position)
)
SOURCES = (
    select(memories.c.turn_id, memories.c.origin_hash, turns.c.text, turns.c.content_hash)
    .join_from(memories, turns, TURN, isouter=True)
    .order_by(memories.c.position)
)


Made = TypeVar("Made", DecisionRow, StepRow)


def _numbered(make: type[Made], rows: Iterator[Row[Any]]) -> Iterator[Made]:
    """Return rows that name an entry; a damaged file can hold anything, -1 is no entry."""
    for row in rows:
        made = make._make(row)
        yield made if isinstance(made.seq, int) else made._replace(seq=-1)


class SqlRecorded(Repository):
    """Implements ``BusinessRows``."""

    def decisions(self) -> Iterator[DecisionRow]:
        """Go through all decisions, by ``seq``."""
        return _numbered(DecisionRow, self._stream(DECISIONS))

    def steps(self) -> Iterator[StepRow]:
        """Go through the history of all memories, by ``seq``."""
        return _numbered(StepRow, self._stream(STEPS))

    def states(self) -> Iterator[StateRow]:
        """Go through all memories, conflicts, reviews and lessons."""
        pairs = zip(self._stream(MEMORIES), self._stream(SOURCES), strict=True)
        for row, source in pairs:
            digest = _digest(row, memory_of, state_digest)
            fault = _source_fault(source)
            yield _state("memory", row, digest, row.state_hash, fault)
        yield from self._plain("conflict", conflicts, conflict_of, conflict_digest)
        yield from self._plain("review", reviews, review_of, review_digest)
        yield from self._plain("lesson", lessons, lesson_of, lesson_digest)

    def _plain(
        self, what: str, table: Table, read: Callable[[Row[Any]], T], digest: Callable[[T], str]
    ) -> Iterator[StateRow]:
        query: Select[Any] = select(table)
        for row in self._stream(query):
            yield _state(what, row, _digest(row, read, digest))


def _state(
    what: str,
    row: Row[Any],
    digest: str | None,
    stored: str | None = None,
    fault: str | None = None,
) -> StateRow:
    return StateRow(row.tenant, what, row.id, row.subject_id, digest, stored, fault)


def _source_fault(source: Row[Any]) -> str | None:
    """Return what is wrong with the message that a memory came from; its digest is logged."""
    if source.turn_id is None:
        return None
    if not isinstance(source.text, str):
        return "the message it came from is gone"
    digest = hashlib.sha256(source.text.encode("utf-8", "surrogateescape")).hexdigest()
    same = digest == source.origin_hash == source.content_hash
    return None if same else "the message it came from was changed"


def _digest(row: Row[Any], read: Callable[[Row[Any]], T], digest: Callable[[T], str]) -> str | None:
    try:
        return digest(read(row))
    except (ValueError, TypeError, KeyError, AttributeError, InvalidInput):
        return None  # the row holds what this service never writes

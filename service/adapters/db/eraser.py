"""Deleting what is erased; SQLite overwrites it (``secure_delete``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sqlalchemy import ColumnElement, Table, delete, select, update

from service.adapters.db.erasure_tables import answer_owners
from service.adapters.db.memory_tables import (
    conflicts,
    events,
    lessons,
    memories,
    reviews,
    turns,
)
from service.adapters.db.receipts import receipts
from service.adapters.db.repository import Repository
from service.adapters.db.tables import body, entry, idempotency, subject

_CHUNK: Final = 500  # ids in one statement


class SqlEraser(Repository):
    """Implements ``Eraser``."""

    def memories(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete memories with their history and their vectors, which go with them."""
        if ids is None:
            self._delete(events, events.c.subject_id == subject_id)
            return self._delete(memories, memories.c.subject_id == subject_id)
        for part in _chunks(ids):
            self._delete(events, events.c.subject_id == subject_id, events.c.memory_id.in_(part))
        return self._rows(memories, subject_id, ids)

    def turns(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete turns."""
        return self._rows(turns, subject_id, ids)

    def conflicts(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete conflicts."""
        return self._rows(conflicts, subject_id, ids)

    def reviews(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete items of the review queue."""
        return self._rows(reviews, subject_id, ids)

    def lessons(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete the user's own lessons."""
        return self._rows(lessons, subject_id, ids)

    def receipts(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete receipts of recalls."""
        return self._rows(receipts, subject_id, ids)

    def answers(self, subject_id: str, keys: Sequence[str] | None) -> Sequence[str]:
        """Delete stored answers and whose they were; return the keys they were stored under."""
        mine = select(answer_owners.c.key).where(self._mine(answer_owners))
        theirs = self._execute(mine.where(answer_owners.c.subject_id == subject_id)).scalars().all()
        gone = [key for key in theirs if keys is None or key in set(keys)]
        for part in _chunks(gone):
            self._delete(idempotency, idempotency.c.key.in_(part))
            self._delete(answer_owners, answer_owners.c.key.in_(part))
        return gone

    def bodies(self, subject_id: str, which: Iterable[tuple[int, str]] | None) -> int:
        """Delete texts beside the log with their salts, by entry and name."""
        mine = select(entry.c.seq).where(self._mine(entry), entry.c.subject == subject_id)
        theirs = mine.where(entry.c.seq == body.c.seq).exists()
        if which is None:
            return self._execute(delete(body).where(theirs)).rowcount
        return sum(
            self._execute(
                delete(body).where(body.c.seq == seq, body.c.name == name, theirs)
            ).rowcount
            for seq, name in which
        )

    def reasons(self, subject_id: str, steps: Sequence[int]) -> int:
        """Empty the reasons of steps of memories that stay."""
        changed = 0
        for start in range(0, len(steps), _CHUNK):
            part = events.c.position.in_(steps[start : start + _CHUNK])
            where = (self._mine(events), events.c.subject_id == subject_id, part)
            changed += self._execute(update(events).where(*where).values(reason=None)).rowcount
        return changed

    def subject(self, subject_id: str) -> int:
        """Delete which user an opaque id stands for."""
        return self._delete(subject, subject.c.id == subject_id)

    def _rows(self, table: Table, subject_id: str, ids: Sequence[str] | None) -> int:
        theirs = table.c.subject_id == subject_id
        if ids is None:
            return self._delete(table, theirs)
        return sum(self._delete(table, theirs, table.c.id.in_(part)) for part in _chunks(ids))

    def _delete(self, table: Table, *which: ColumnElement[bool]) -> int:
        return self._execute(delete(table).where(self._mine(table), *which)).rowcount


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    unique = tuple(dict.fromkeys(ids))
    return (unique[start : start + _CHUNK] for start in range(0, len(unique), _CHUNK))

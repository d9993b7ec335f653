"""One user's memories, read once and then kept in step with what the tables say.

Kept are outlines and words, a few hundred bytes of each memory; what is shown is read when it is.
Texts never change, so each recall asks in one look-up whether anything happened to the user since,
and reads only what did.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from service.domain.memory import MemoryEvent
from service.domain.recall.eligible import Cut, Filters
from service.domain.recall.outline import Outline, Outlines, outline_of
from service.domain.recall.words import Words, words_of
from service.ports.storage import Transaction
from service.usecases.recall_view import View, past_view, places_of, steps_of, view_of

_MEMORIES = 50_000  # of all users together; half a kilobyte each
_USER = 4  # what a user costs besides, in memories
_VIEWS = 4
_NEVER = -2


@dataclass(slots=True)
class _Kept:
    subject_id: str
    revision: int = _NEVER
    memories: Outlines = field(default_factory=Outlines)
    words: Words = field(default_factory=lambda: words_of(()))
    places: dict[str, int] = field(default_factory=dict)
    views: OrderedDict[Filters, tuple[View, datetime]] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    size: int = 0  # as counted by ``Corpora``

    def fill(self, memories: Outlines) -> None:
        """Take all of a user's memories, oldest first."""
        self.memories = memories
        self.places = places_of(memories)
        self.words = words_of(memories.column("text"))

    def put(self, changed: Sequence[Outline]) -> None:
        """Take memories that are new, or that something happened to.

        Nothing is changed in place: a view may hold it.
        """
        known = {self.places[m.id]: m for m in changed if m.id in self.places}
        added = [m for m in changed if m.id not in self.places]
        self.places = self.places | {m.id: n for n, m in enumerate(added, len(self.memories))}
        self.memories = self.memories.put(known, added)
        self.words += words_of([m.text for m in added])


class Corpora:
    """The memories of the users who asked last."""

    def __init__(self, memories: int = _MEMORIES) -> None:
        self._limit = memories
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def view(self, tx: Transaction, subject_id: str, filters: Filters, now: datetime) -> View:
        """Return what a query may see now; ``filters.as_of`` is read from the history."""
        kept = self._entry(tx, subject_id)
        with kept.lock:
            self._catch_up(tx, kept)
            if filters.as_of is not None:
                moment = filters.as_of
                return _past(tx, kept, filters, now, lambda s: s.at <= moment)
            known = kept.views.get(filters)
            if known is not None and known[1] <= now and known[0].holds_at(now):
                return known[0]
            view = view_of(kept.memories, kept.words, kept.places, filters, now)
            kept.views[filters] = (view, now)
            while len(kept.views) > _VIEWS:
                kept.views.popitem(last=False)
            return view

    def view_before(
        self, tx: Transaction, subject_id: str, filters: Filters, now: datetime, size: int
    ) -> View:
        """Return what a query saw when the log had this size and the time was ``now``."""
        kept = self._entry(tx, subject_id)
        moment = filters.as_of

        def seen(step: MemoryEvent) -> bool:
            in_log = step.seq is None or step.seq < size
            return in_log and (moment is None or step.at <= moment)

        with kept.lock:
            self._catch_up(tx, kept)
            return _past(tx, kept, filters, now, seen)

    def forget(self, tenant: str, subject_id: str) -> None:
        """Drop a user's memories, after an erasure."""
        with self._lock:
            self._drop((tenant, subject_id))

    @property
    def users(self) -> tuple[str, ...]:
        """Return whose memories are kept, those who asked last at the end."""
        with self._lock:
            return tuple(kept.subject_id for kept in self._kept.values())

    def _entry(self, tx: Transaction, subject_id: str) -> _Kept:
        key = (tx.scope.tenant, subject_id)
        with self._lock:
            kept = self._kept.setdefault(key, _Kept(subject_id))
            self._kept.move_to_end(key)
            return kept

    def _catch_up(self, tx: Transaction, kept: _Kept) -> None:
        """Read what happened since, and make room for it."""
        if _read(tx, kept):
            with self._lock:
                self._count(tx.scope.tenant, kept)
                while self._size > self._limit and len(self._kept) > 1:
                    self._drop(next(iter(self._kept)))

    def _count(self, tenant: str, kept: _Kept) -> None:
        if self._kept.get((tenant, kept.subject_id)) is kept:  # not dropped meanwhile
            self._size -= kept.size
            kept.size = len(kept.memories) + _USER
            self._size += kept.size

    def _drop(self, key: tuple[str, str]) -> None:
        dropped = self._kept.pop(key, None)
        self._size -= 0 if dropped is None else dropped.size


def _read(tx: Transaction, kept: _Kept) -> bool:
    """Read what happened since; return whether anything did."""
    subject_id = kept.subject_id
    revision = tx.receipts.revision(subject_id)
    if revision == kept.revision:
        return False
    newer = revision > kept.revision > _NEVER
    if newer:
        changed = tx.receipts.changed(subject_id, kept.revision)
        kept.put([outline_of(m) for m in tx.memories.many(subject_id, changed)])
    if not newer or len(kept.memories) != tx.receipts.count(subject_id):
        kept.fill(tx.memories.outlines(subject_id))
    kept.views.clear()
    kept.revision = revision
    return True


def _past(tx: Transaction, kept: _Kept, filters: Filters, now: datetime, seen: Cut) -> View:
    steps = steps_of(tx, kept.subject_id, list(kept.places))
    return past_view(kept.memories, kept.words, steps, seen, filters=filters, now=now)

"""One user's memories, read once and then kept in step with what the tables say.

Texts never change, so what is kept are memories with their tokens; each recall asks in one look-up
whether anything happened to the user since, and reads only what did.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from service.domain.memory import Memory, MemoryEvent
from service.domain.recall.eligible import Cut, Filters, as_it_was, is_eligible
from service.domain.recall.lexical import Lexical
from service.domain.recall.tokens import tokens
from service.ports.memory import MemoryFilter
from service.ports.storage import PageRequest, Transaction

_PAGE = 200
_MEMORIES = 50_000  # of all users together; a few kilobytes each
_VIEWS = 4
_NEVER = -2


@dataclass(frozen=True, slots=True)
class View:
    """The memories that a query may see, in the order they were made, and their words."""

    memories: tuple[Memory, ...]
    lexical: Lexical
    places: Mapping[str, int]
    until: datetime | None

    def holds_at(self, now: datetime) -> bool:
        """Return whether the view is still the right one: nothing in it expired or ended."""
        return self.until is None or now < self.until


@dataclass(slots=True)
class _Kept:
    subject_id: str
    revision: int = _NEVER
    memories: dict[str, Memory] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)
    views: OrderedDict[Filters, tuple[View, datetime]] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Corpora:
    """The memories of the users who asked last."""

    def __init__(self, memories: int = _MEMORIES) -> None:
        self._limit = memories
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def view(self, tx: Transaction, subject_id: str, filters: Filters, now: datetime) -> View:
        """Return what a query may see now; ``filters.as_of`` is read from the history."""
        kept = self._entry(tx, subject_id)
        with kept.lock:
            if _catch_up(tx, subject_id, kept):
                self._shrink()
            if filters.as_of is not None:
                moment = filters.as_of
                return _past(tx, kept, filters, now, lambda s: s.at <= moment)
            known = kept.views.get(filters)
            if known is not None and known[1] <= now and known[0].holds_at(now):
                return known[0]
            view = _view(list(kept.memories.values()), kept.words, filters, now)
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
            if _catch_up(tx, subject_id, kept):
                self._shrink()
            return _past(tx, kept, filters, now, seen)

    def forget(self, tenant: str, subject_id: str) -> None:
        """Drop a user's memories, after an erasure."""
        with self._lock:
            self._kept.pop((tenant, subject_id), None)

    def _entry(self, tx: Transaction, subject_id: str) -> _Kept:
        key = (tx.scope.tenant, subject_id)
        with self._lock:
            kept = self._kept.setdefault(key, _Kept(subject_id))
            self._kept.move_to_end(key)
            return kept

    def _shrink(self) -> None:
        """Drop the users who asked least recently; the one who asks now stays."""
        with self._lock:
            size = sum(len(kept.memories) for kept in self._kept.values())
            while size > self._limit and len(self._kept) > 1:
                size -= len(self._kept.popitem(last=False)[1].memories)


def _catch_up(tx: Transaction, subject_id: str, kept: _Kept) -> bool:
    """Read what happened since; return whether anything did."""
    revision = tx.receipts.revision(subject_id)
    if revision == kept.revision:
        return False
    newer = revision > kept.revision > _NEVER
    changed = tx.receipts.changed(subject_id, kept.revision) if newer else ()
    for memory in tx.memories.many(subject_id, changed):
        kept.memories[memory.id] = memory
    if not newer or len(kept.memories) != tx.receipts.count(subject_id):
        kept.memories = {m.id: m for m in _all(tx, subject_id)}
        kept.words = {i: w for i, w in kept.words.items() if i in kept.memories}
    kept.views.clear()
    kept.revision = revision
    return True


def _all(tx: Transaction, subject_id: str) -> Sequence[Memory]:
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = tx.memories.list(MemoryFilter(subject_id, statuses=()), PageRequest(_PAGE, cursor))
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found[::-1]


def _past(tx: Transaction, kept: _Kept, filters: Filters, now: datetime, seen: Cut) -> View:
    steps: dict[str, list[MemoryEvent]] = {}
    for step in tx.memories.history(kept.subject_id, list(kept.memories)):
        steps.setdefault(step.memory_id, []).append(step)
    then = (as_it_was(m, steps.get(m.id, ()), seen) for m in kept.memories.values())
    return _view([m for m in then if m is not None], kept.words, filters, now)


def _view(
    memories: Sequence[Memory], words: dict[str, list[str]], filters: Filters, now: datetime
) -> View:
    found = tuple(m for m in memories if is_eligible(m, filters, now))
    for memory in found:
        if memory.id not in words:
            words[memory.id] = tokens(memory.text)
    ends = [t for m in found for t in (m.expires_at, m.valid_to) if t is not None and t > now]
    return View(
        memories=found,
        lexical=Lexical([words[m.id] for m in found]),
        places={m.id: place for place, m in enumerate(found)},
        until=min(ends, default=None),
    )

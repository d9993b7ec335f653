"""What a query may see of one user's memories, now or at another time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.memory import Memory, MemoryEvent
from service.domain.recall.eligible import Cut, Filters, as_it_was, eligible, outline_then
from service.domain.recall.lexical import Lexical
from service.domain.recall.outline import Outlines
from service.domain.recall.words import Words, words_of
from service.ports.storage import Transaction


@dataclass(frozen=True, slots=True)
class View:
    """The memories that a query may see, in the order they were made, and their words.

    ``seen`` tells which steps of the history count; all of them where it is None.
    """

    memories: Outlines
    lexical: Lexical
    places: Mapping[str, int]
    until: datetime | None
    seen: Cut | None = None

    def holds_at(self, now: datetime) -> bool:
        """Return whether the view is still the right one: nothing in it expired or ended."""
        return self.until is None or now < self.until

    def whole(
        self, tx: Transaction, subject_id: str, memory_ids: Sequence[str]
    ) -> Mapping[str, Memory]:
        """Return memories of the view with all there is to show of them, as they were then."""
        stored = tx.memories.many(subject_id, memory_ids)
        if self.seen is None:
            return {m.id: m for m in stored}
        steps = steps_of(tx, subject_id, memory_ids)
        then = (as_it_was(m, steps.get(m.id, ()), self.seen) for m in stored)
        return {m.id: m for m in then if m is not None}


NOTHING = View(Outlines(), Lexical(words_of(())), {}, None)


def view_of(
    memories: Outlines,
    words: Words,
    places: Mapping[str, int],
    filters: Filters,
    now: datetime,
) -> View:
    """Return what is eligible; ``places`` are those of all the memories, ``words`` their words."""
    chosen = eligible(memories, filters, now)
    if not all(chosen):
        memories, words = memories.only(chosen), words.only(chosen)
        places = places_of(memories)
    times = {*memories.column("expires_at"), *memories.column("valid_to")} - {None}
    return View(memories, Lexical(words), places, min((t for t in times if t > now), default=None))


def past_view(
    memories: Outlines,
    words: Words,
    steps: Mapping[str, Sequence[MemoryEvent]],
    seen: Cut,
    *,
    filters: Filters,
    now: datetime,
) -> View:
    """Return what was eligible when only the steps that are ``seen`` had been taken."""
    then = [outline_then(m, steps.get(m.id, ()), seen) for m in memories]
    known = Outlines.of(m for m in then if m is not None)
    words = words.only([m is not None for m in then])
    return replace(view_of(known, words, places_of(known), filters, now), seen=seen)


def places_of(memories: Outlines) -> dict[str, int]:
    """Return where each memory is."""
    return {memory_id: place for place, memory_id in enumerate(memories.column("id"))}


def steps_of(
    tx: Transaction, subject_id: str, memory_ids: Sequence[str]
) -> Mapping[str, Sequence[MemoryEvent]]:
    """Return the history of memories, each memory's oldest step first."""
    steps: dict[str, list[MemoryEvent]] = {}
    for step in tx.memories.history(subject_id, memory_ids):
        steps.setdefault(step.memory_id, []).append(step)
    return steps

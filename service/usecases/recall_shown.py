"""Hits as they are shown: as they were then, with the drift of what is stored now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.audit.entry import parse_entry
from service.audit.errors import VerificationError
from service.domain.memory import Memory
from service.domain.recall.outcome import Hit, Outcome
from service.ports.storage import Transaction
from service.usecases.drift import Drift, Seen, compared


@dataclass(frozen=True, slots=True)
class Answer:
    """One hit as it is shown; ``seen`` is None for a lesson."""

    hit: Hit
    seen: Seen | None


def shown(
    tx: Transaction, subject: str | None, outcome: Outcome, *, current: bool
) -> tuple[Answer, ...]:
    """Return memories as they were then, with the drift of what is stored now.

    ``current`` says that they were read in this transaction, as they are stored now.
    """
    found = [hit.memory for hit in outcome.hits if hit.memory is not None]
    drift: dict[str, Drift] = {}
    if subject and found:
        drift = _drift(tx, subject, found if current else _stored(tx, subject, found))
    return tuple(
        Answer(hit, None if hit.memory is None else Seen(hit.memory, drift[hit.memory.id]))
        for hit in outcome.hits
    )


def _stored(tx: Transaction, subject: str, memories: Sequence[Memory]) -> Sequence[Memory]:
    return tx.memories.many(subject, [m.id for m in memories])


def _drift(tx: Transaction, subject: str, stored: Sequence[Memory]) -> dict[str, Drift]:
    """Return how each memory compares, the same as ``seen_memory`` with fewer questions to SQL."""
    turns = tx.turns.many([m.origin.turn_id for m in stored if m.origin.turn_id])
    steps = tx.memories.history(subject, [m.id for m in stored])
    last = {step.memory_id: step.seq for step in steps if step.seq is not None}
    entries = tx.audit.entries(list(last.values()))
    logged = {m.id: _logged(m, entries.get(last.get(m.id, -1))) for m in stored}
    return {
        m.id: compared(m, turns.get(m.origin.turn_id or ""), logged[m.id]).status for m in stored
    }


def _logged(memory: Memory, entry: bytes | None) -> str | None:
    """Return the state in the entry that a memory's history names for its last one."""
    if entry is None:
        return None
    try:
        draft = parse_entry(entry).draft
    except VerificationError:
        return None
    return draft.state_after if draft.memory[:1] == (memory.id,) else None

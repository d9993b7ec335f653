"""Hits as they are shown: as they were then, with the drift of what is stored now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.audit.entry import parse_entry
from service.audit.errors import VerificationError
from service.domain.memory import Memory
from service.domain.recall.outcome import Hit, Outcome
from service.ports.storage import Transaction
from service.usecases.drift import Drift, Seen, finding


@dataclass(frozen=True, slots=True)
class Answer:
    """One hit as it is shown; ``seen`` is None for a lesson."""

    hit: Hit
    seen: Seen | None


def shown(tx: Transaction, subject: str | None, outcome: Outcome) -> tuple[Answer, ...]:
    """Return memories as they were then, with the drift of what is stored now."""
    ids = [hit.memory.id for hit in outcome.hits if hit.memory is not None]
    drift = _drift(tx, subject, ids) if subject and ids else {}
    return tuple(
        Answer(hit, None if hit.memory is None else Seen(hit.memory, drift[hit.memory.id]))
        for hit in outcome.hits
    )


def _drift(tx: Transaction, subject: str, ids: Sequence[str]) -> dict[str, Drift]:
    """Return how each memory compares, the same as ``seen_memory`` with fewer questions to SQL."""
    # One at a time: asked for several, SQLite reads all of the user's (5 ms at 10,000).
    found = (tx.memories.get(subject, memory_id) for memory_id in ids)
    stored = [memory for memory in found if memory is not None]
    last = {step.memory_id: step.seq for step in tx.memories.history(subject, ids)}
    return {m.id: finding(tx, m, _logged(tx, m, last.get(m.id))).status for m in stored}


def _logged(tx: Transaction, memory: Memory, seq: int | None) -> str | None:
    """Return the state in the entry that a memory's history names for its last one."""
    row = tx.audit.get(seq) if seq is not None else None
    if row is None:
        return None
    try:
        draft = parse_entry(row.entry).draft
    except VerificationError:
        return None
    return draft.state_after if draft.memory[:1] == (memory.id,) else None

"""Every change of a memory in one place: row, history, outbox and entry of the log together.

The first memory that an entry names is the one whose state its digests are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from service.domain import memory_state
from service.domain.digests import conflict_digest, sealed
from service.domain.memory import (
    Conflict,
    ConflictStatus,
    Memory,
    MemoryAction,
    MemoryEvent,
)
from service.ports.storage import EntryDraft, Transaction

_KINDS = {
    MemoryAction.CONTESTED: "conflict.marked",
    MemoryAction.SETTLED: "conflict.resolved",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step in the life of a memory; ``before`` is ``None`` for a new one."""

    action: MemoryAction
    after: Memory
    before: Memory | None = None
    reason: str | None = None
    other_id: str | None = None


class Journal:
    """Writes steps within one transaction."""

    def __init__(self, tx: Transaction, subject_id: str, at: datetime) -> None:
        self._tx = tx
        self._subject = subject_id
        self._at = at
        self._written: dict[str, Memory] = {}
        self._new: dict[str, Memory] = {}

    def write(self, step: Step) -> Memory:
        """Write one step and return the memory as it is stored now."""
        after = sealed(step.after, self._subject)
        if step.before is None:
            self._new[after.id] = self._tx.memories.add(after)
        else:
            self._new.pop(after.id, None)
            self._tx.memories.update(after)
        self._note(step, after)
        self._written[after.id] = after
        self._tx.outbox.put(after.id)
        return after

    def written(self, memory_id: str) -> Memory | None:
        """Return a memory as this journal last wrote and logged it, if it did."""
        return self._written.get(memory_id)

    def new(self, memory_id: str) -> Memory | None:
        """Return a memory that this journal stored, as it reads back, unless it changed again."""
        return self._new.get(memory_id)

    def mark(self, conflict: Conflict, first: Memory, second: Memory) -> None:
        """Open a conflict; both memories are contested from now on."""
        self._tx.conflicts.add(conflict)
        self._append("conflict.marked", conflict, None)
        for one, other in ((first, second), (second, first)):
            after = memory_state.contested(one, at=self._at, value=True)
            self.write(Step(MemoryAction.CONTESTED, after, one, conflict.reason, other.id))

    def resolve(self, conflict: Conflict) -> None:
        """Close a conflict; a memory without another open one is no longer contested."""
        self._tx.conflicts.update(conflict)
        self._append("conflict.resolved", conflict, conflict_digest(_opened(conflict)))
        for memory_id in (conflict.first, conflict.second):
            memory = self._tx.memories.get(self._subject, memory_id)
            still_open = self._tx.conflicts.open_with(self._subject, memory_id)
            if memory is None or not memory.contested or still_open:
                continue
            after = memory_state.contested(memory, at=self._at, value=False)
            self.write(Step(MemoryAction.SETTLED, after, memory, conflict.resolution, conflict.id))

    def settle(self, memory_id: str, reason: str) -> None:
        """Close the conflicts of a memory that is no longer active; the other one is kept."""
        for conflict in self._tx.conflicts.open_with(self._subject, memory_id):
            kept = conflict.second if conflict.first == memory_id else conflict.first
            self.resolve(
                replace(
                    conflict,
                    status=ConflictStatus.RESOLVED,
                    kept=kept,
                    resolution=reason,
                    resolved_at=self._at,
                    resolved_by=self._tx.scope.actor,
                )
            )

    def _append(self, kind: str, conflict: Conflict, before: str | None) -> None:
        self._tx.audit.append(
            EntryDraft(
                kind=kind,
                actor=self._tx.scope.actor,
                subject=self._subject,
                memory=(conflict.id, conflict.first, conflict.second),
                state_before=before,
                state_after=conflict_digest(conflict),
            ),
            {},
        )

    def _note(self, step: Step, after: Memory) -> None:
        others = (step.other_id,) if step.other_id else ()
        before = None
        if step.before is not None:
            before = self._written.get(step.before.id, step.before).state_hash
        self._tx.memories.record(
            MemoryEvent(
                memory_id=after.id,
                subject_id=self._subject,
                action=step.action,
                status=after.status,
                at=self._at,
                actor=self._tx.scope.actor,
                reason=step.reason,
                other_id=step.other_id,
                seq=self._tx.audit.next_seq(),
            )
        )
        self._tx.audit.append(
            EntryDraft(
                kind=_KINDS.get(step.action, f"memory.{step.action.value}"),
                actor=self._tx.scope.actor,
                subject=self._subject,
                memory=(after.id, *others),
                state_before=before,
                state_after=after.state_hash,
                policy=after.policy_fingerprint,
            ),
            {},
        )


def _opened(conflict: Conflict) -> Conflict:
    """Return a conflict as it was while it was open."""
    return replace(
        conflict,
        status=ConflictStatus.OPEN,
        kept=None,
        resolution=None,
        resolved_at=None,
        resolved_by=None,
    )

"""One transaction that deletes everything a plan names, and says so in the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from service.domain import memory_state
from service.domain.erasure import (
    ErasureMode,
    ErasurePlan,
    ErasureRecord,
    ErasureStatus,
    Finding,
    StoredPlan,
)
from service.domain.memory import MemoryAction, MemoryStatus
from service.ports.storage import EntryDraft, Transaction
from service.usecases.erasure.draw import Drawn, copies
from service.usecases.journal import Journal, Step

UNFINISHED: Final = Finding("not_finished")
_REASON_ERASED: Final = "(erased)"
_NAMED: Final = 120  # ids in one entry, which has at most 8 KiB
_ACTIONS: Final = {
    MemoryStatus.SUPERSEDED: MemoryAction.SUPERSEDED,
    MemoryStatus.RETRACTED: MemoryAction.RETRACTED,
    MemoryStatus.DELETED: MemoryAction.DELETED,
}


@dataclass(frozen=True, slots=True)
class Order:
    """A confirmed plan; ``id`` is the erasure's."""

    id: str
    stored: StoredPlan
    drawn: Drawn
    at: datetime


def carry_out(tx: Transaction, order: Order) -> ErasureRecord:
    """Delete, and append the tombstones; returns the receipt as it is stored."""
    plan = order.drawn.plan
    counts = _everything(tx, order) if plan.mode is ErasureMode.ALL else _part(tx, order)
    tx.erasure.records.drop_plans(subject_id=plan.subject_id)
    for memory in order.drawn.memories:
        tx.outbox.put(memory.id)
    drafts = _tombstones(tx, order)
    first = tx.audit.next_seq()
    record = ErasureRecord(
        id=order.id,
        plan_sha256=order.stored.plan_sha256,
        subject_id=plan.subject_id,
        mode=plan.mode,
        reason_code=order.stored.reason_code,
        reason=order.stored.reason,
        actor=tx.scope.actor,
        memory_ids=plan.memories,
        counts=counts,
        tombstones=tuple(range(first, first + len(drafts))),
        status=ErasureStatus.INCOMPLETE,
        findings=(UNFINISHED,),
        erased_at=order.at,
    )
    tx.erasure.records.add(record)
    for draft in drafts:
        tx.audit.append(draft, {})
    return record


def _everything(tx: Transaction, order: Order) -> dict[str, int]:
    subject, eraser = order.drawn.plan.subject_id, tx.erasure.eraser
    counts = dict(tx.erasure.held.counts(subject))
    later = {text: said for text, said in order.drawn.forbidden if said > order.at}
    tx.erasure.erased.add_user(subject, order.at, later)
    tx.erasure.erased.add_answers(eraser.answers(subject, None), order.at)
    eraser.receipts(subject, None)
    eraser.conflicts(subject, None)
    eraser.reviews(subject, None)
    eraser.lessons(subject, None)
    eraser.memories(subject, None)
    eraser.turns(subject, None)
    eraser.bodies(subject, None)
    eraser.subject(subject)
    return counts


def _part(tx: Transaction, order: Order) -> dict[str, int]:
    plan, eraser = order.drawn.plan, tx.erasure.eraser
    subject = plan.subject_id
    stale_until = {text: max(said, order.at) for text, said in order.drawn.forbidden}
    tx.erasure.erased.add_statements(subject, stale_until)
    counts = _copies(tx, order)
    open_with = _contested(tx, plan)
    counts["conflicts"] = eraser.conflicts(subject, plan.conflicts)
    counts["reviews"] = eraser.reviews(subject, plan.reviews)
    counts["lessons"] = eraser.lessons(subject, plan.lessons)
    _restate(tx, plan, order.at)
    counts["memories"] = eraser.memories(subject, plan.memories)
    counts["turns"] = eraser.turns(subject, plan.turns)
    wanted = ((b.seq, name) for b in plan.bodies for name in b.names)
    counts["texts"] = eraser.bodies(subject, wanted)
    counts["reasons"] = eraser.reasons(subject, plan.events) + len(plan.restated)
    _settle(tx, subject, open_with, order.at)
    return counts


def _copies(tx: Transaction, order: Order) -> dict[str, int]:
    """Delete what reading has left behind by now."""
    plan, eraser = order.drawn.plan, tx.erasure.eraser
    receipts, keys = copies(tx.erasure.held, plan, order.drawn.said)
    gone = eraser.answers(plan.subject_id, keys)
    tx.erasure.erased.add_answers(gone, order.at)
    return {"receipts": eraser.receipts(plan.subject_id, receipts), "answers": len(gone)}


def _contested(tx: Transaction, plan: ErasurePlan) -> list[tuple[str, str]]:
    """Return (conflict, memory that stays) of the conflicts that go."""
    gone = set(plan.memories)
    found = []
    for conflict_id in plan.conflicts:
        conflict = tx.conflicts.get(plan.subject_id, conflict_id)
        if conflict is not None:
            found += [(conflict_id, m) for m in (conflict.first, conflict.second) if m not in gone]
    return found


def _settle(tx: Transaction, subject: str, stayed: Iterable[tuple[str, str]], at: datetime) -> None:
    """Take the mark of a conflict from memories that have none any more."""
    journal = Journal(tx, subject, at)
    for conflict_id, memory_id in stayed:
        memory = tx.memories.get(subject, memory_id)
        if memory is None or not memory.contested or tx.conflicts.open_with(subject, memory_id):
            continue
        after = memory_state.contested(memory, at=at, value=False)
        journal.write(Step(MemoryAction.SETTLED, after, memory, _REASON_ERASED, conflict_id))


def _restate(tx: Transaction, plan: ErasurePlan, at: datetime) -> None:
    """Write memories that stay anew without the reason that held an erased text.

    The reason is a part of the state that the log vouches for, so this is a step like any other.
    """
    journal = Journal(tx, plan.subject_id, at)
    for memory in tx.memories.many(plan.subject_id, plan.restated):
        after = replace(memory, supersession_reason=_REASON_ERASED, updated_at=at)
        action = _ACTIONS[memory.status]
        journal.write(Step(action, after, memory, _REASON_ERASED, memory.replaced_by))


def _tombstones(tx: Transaction, order: Order) -> list[EntryDraft]:
    """Return the entries that say what was erased; an empty list of ids means everything."""
    plan = order.drawn.plan
    named: Sequence[str] = () if plan.mode is ErasureMode.ALL else plan.named or (order.id,)
    parts = [named[i : i + _NAMED] for i in range(0, len(named), _NAMED)] or [()]
    return [
        EntryDraft(
            kind="erasure.done",
            actor=tx.scope.actor,
            subject=plan.subject_id,
            decision={
                "id": order.id,
                "verdict": None,
                "reason_code": order.stored.reason_code.value,
                "scores_e6": {},
            },
            memory=tuple(part),
            state_before=order.stored.plan_sha256,
        )
        for part in parts
    ]

"""What was erased after a backup was made has to go again when it is restored.

Of users who were erased altogether the key is gone: their rows cannot be read any more and are
deleted. Single statements are recognised by the keyed digests that are kept beside the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from service.domain.erasure import Asked, ErasureMode, ErasureReason, StoredPlan
from service.domain.erasure_text import normal
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import SYSTEM, Database, EntryDraft, Scope, Transaction
from service.ports.subject_keys import SubjectRef
from service.usecases.erasure.carry_out import Order, carry_out
from service.usecases.erasure.draw import draw

KEY_DESTROYED: Final = "key_destroyed"
Find = Callable[[Transaction, str], tuple[str, ...]]
_NOTE: Final = "Repeated after a backup from before it was restored."


@dataclass(frozen=True, slots=True)
class Repeated:
    """How many users were completed as erased, and how many single erasures were repeated."""

    users: int
    statements: int


class RepeatErasures:
    """Erases in a restored database what was erased since."""

    def __init__(self, database: Database, clock: Clock, identifiers: Identifiers) -> None:
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def run(self, destroyed: Iterable[SubjectRef], touched: Iterable[SubjectRef]) -> Repeated:
        """Delete what is left of users without a key, and repeat what is known of others."""
        gone = tuple(destroyed)
        for who in gone:
            self._write(who, partial(complete, subject_id=who.subject_id))
        others = [who for who in touched if who not in set(gone)]
        return Repeated(len(gone), sum(map(self._again, others)))

    def _again(self, who: SubjectRef) -> int:
        """Repeat the erasures of a user: of turns first, because memories go with them."""
        find: dict[ErasureMode, Find] = {
            ErasureMode.TURNS: stale_turns,
            ErasureMode.MEMORIES: stale_memories,
        }
        done = 0
        for mode, stale in find.items():
            erase = partial(self._erase, subject_id=who.subject_id, mode=mode, find=stale)
            done += self._write(who, erase)
        return done

    def _erase(self, tx: Transaction, subject_id: str, mode: ErasureMode, find: Find) -> int:
        ids = find(tx, subject_id)
        if not ids:
            return 0
        asked, now = Asked(mode, ids), self._clock.now()
        drawn = draw(tx, subject_id, asked)
        stored = StoredPlan(
            plan_sha256=drawn.plan.digest,
            subject_id=subject_id,
            asked=asked,
            reason_code=ErasureReason.OTHER,
            reason=_NOTE,
            created_at=now,
            expires_at=now,
        )
        carry_out(tx, Order(self._identifiers.new("era"), stored, drawn, now))
        return len(ids)

    def _write(self, who: SubjectRef, work: Callable[[Transaction], int]) -> int:
        return self._database.write(Scope(who.tenant, SYSTEM.key), work)


def complete(tx: Transaction, subject_id: str) -> int:
    """Delete every row of a user whose key was destroyed, and say so in the log."""
    eraser = tx.erasure.eraser
    eraser.answers(subject_id, None)
    eraser.receipts(subject_id, None)
    eraser.conflicts(subject_id, None)
    eraser.reviews(subject_id, None)
    eraser.lessons(subject_id, None)
    eraser.memories(subject_id, None)
    eraser.turns(subject_id, None)
    eraser.bodies(subject_id, None)
    eraser.subject(subject_id)
    tx.erasure.records.drop_plans(subject_id=subject_id)
    draft = EntryDraft(
        kind="erasure.done",
        actor=tx.scope.actor,
        subject=subject_id,
        decision={"id": None, "verdict": None, "reason_code": KEY_DESTROYED, "scores_e6": {}},
    )
    return tx.audit.append(draft, {}).seq


def stale_turns(tx: Transaction, subject_id: str) -> tuple[str, ...]:
    """Return the turns whose text was erased after they were recorded."""
    held = tx.erasure.held.turns(subject_id)
    found = [(turn.id, at) for turn in held if (at := _erased_at(tx, subject_id, turn.text))]
    turns = tx.turns.many([turn_id for turn_id, _ in found])
    return tuple(i for i, at in found if i in turns and turns[i].recorded_at <= at)


def stale_memories(tx: Transaction, subject_id: str) -> tuple[str, ...]:
    """Return the memories whose text was erased after they were recorded."""
    held = tx.erasure.held.memories(subject_id)
    found = {m.id: at for m in held if (at := _erased_at(tx, subject_id, m.text))}
    memories = tx.memories.many(subject_id, tuple(found))
    return tuple(m.id for m in memories if m.recorded_at <= found[m.id])


def _erased_at(tx: Transaction, subject_id: str, text: str) -> datetime | None:
    return tx.erasure.erased.statement_erased_at(subject_id, (normal(text),))

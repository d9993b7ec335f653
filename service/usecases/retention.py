"""Retention: erasing texts that nobody needs any more after so many days, by the operator's policy.

What goes: memories that were retired that long ago; turns that old from which nothing is
remembered any more; the texts of decisions that old which no memory that stays rests on; reviews
closed and receipts made that long ago. Active memories and what they come from always stay, and so
does a text that something newer holds too. The erasure is the same as any other: tombstones in the
log, searched for in every file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from service.audit.entry import parse_entry
from service.domain.erasure import (
    Asked,
    BodyRef,
    ErasureMode,
    ErasurePlan,
    ErasureReason,
    ErasureRecord,
    StoredPlan,
)
from service.domain.memory import MemoryStatus, Review, ReviewStatus
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import SYSTEM, AuditFilter, Database, PageRequest, Scope, Transaction
from service.ports.subject_keys import SubjectRef
from service.usecases.erasure.carry_out import Order, carry_out
from service.usecases.erasure.draw import Drawn, draw
from service.usecases.erasure.finish import Finisher

_NOTE: Final = "By the retention policy."
_ENTRIES: Final = 500
_PAGE: Final = 200
_TOGETHER: Final = 64


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be erased of one user, drawn up but not carried out."""

    who: SubjectRef
    drawn: tuple[Drawn, ...]
    receipts: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.drawn or self.receipts)


Step = Callable[[Transaction, SubjectRef, datetime], Due]


@dataclass(frozen=True, slots=True)
class Retained:
    """How much was erased, or would be."""

    users: int = 0
    memories: int = 0
    turns: int = 0
    decisions: int = 0
    reviews: int = 0
    receipts: int = 0

    def plus(self, due: Due) -> Retained:
        """Return the sum with all that is of one user; what two plans name counts once."""
        plans = [drawn.plan for drawn in due.drawn]
        return Retained(
            self.users + bool(due),
            self.memories + len({m for p in plans for m in p.memories}),
            self.turns + len({t for p in plans for t in p.turns}),
            self.decisions + len({b.seq for p in plans for b in p.bodies}),
            self.reviews + len({r for p in plans for r in p.reviews}),
            self.receipts + len(set(due.receipts)),
        )


class Retain:
    """The use case behind ``groundkeeper retain``."""

    def __init__(
        self, *, database: Database, clock: Clock, identifiers: Identifiers, finisher: Finisher
    ) -> None:
        self._database = database
        self._clock = clock
        self._identifiers = identifiers
        self._finisher = finisher

    def run(self, days: int) -> Retained:
        """Erase what is older than ``days``; a user who is being written to waits for the next run.

        Raises ``Unavailable`` if the database cannot serve; what was done until then stays done.
        """
        before = self._clock.now() - timedelta(days=days)
        done = Retained()
        for who in self._database.read(SYSTEM, lambda tx: tx.subjects.everybody()):
            done = done.plus(_together(who, (self._step(who, before, s) for s in STEPS)))
        return done

    def _step(self, who: SubjectRef, before: datetime, step: Step) -> Due:
        scope = Scope(who.tenant, SYSTEM.key)
        due = self._database.read(scope, lambda tx: step(tx, who, before))
        if not due:
            return due
        records = self._database.write(scope, lambda tx: self._erase(tx, due))
        for record, drawn in zip(records, due.drawn, strict=False):
            self._finisher.expect(record.id, drawn)
            self._finisher.finish(who.tenant, record)
        return due if records or not due.drawn else Due(who, (), ())

    def _erase(self, tx: Transaction, due: Due) -> list[ErasureRecord]:
        """Carry out what was drawn up, unless the user's memory has changed since."""
        state = tx.erasure.held.state(due.who.subject_id)
        if any(drawn.plan.state != state for drawn in due.drawn):
            return []
        tx.erasure.eraser.receipts(due.who.subject_id, due.receipts)
        now = self._clock.now()
        return [carry_out(tx, self._order(drawn, now)) for drawn in due.drawn]

    def _order(self, drawn: Drawn, now: datetime) -> Order:
        asked = Asked(drawn.plan.mode, drawn.plan.targets or drawn.plan.turns)
        reason = ErasureReason.RETENTION
        stored = StoredPlan(
            drawn.plan.digest, drawn.plan.subject_id, asked, reason, _NOTE, now, now
        )
        return Order(self._identifiers.new("era"), stored, drawn, now)


def look(tx: Transaction, who: SubjectRef, before: datetime) -> Due:
    """Return what is due of one user, without erasing anything."""
    return _together(who, (step(tx, who, before) for step in STEPS))


def _together(who: SubjectRef, parts: Iterable[Due]) -> Due:
    found = tuple(parts)
    drawn = tuple(one for due in found for one in due.drawn)
    return Due(who, drawn, tuple(receipt for due in found for receipt in due.receipts))


def due_turns(tx: Transaction, who: SubjectRef, before: datetime) -> Due:
    """Return old turns from which nothing is remembered that stays, with their memories."""
    stays = _Stays(tx, who.subject_id, before)
    old = tuple(sorted(stays.old_turns - stays.turns))
    return Due(who, tuple(_within(tx, who, ErasureMode.TURNS, old, stays)), ())


def due_memories(tx: Transaction, who: SubjectRef, before: datetime) -> Due:
    """Return memories that were retired long ago and do not come from a turn that stays."""
    stays = _Stays(tx, who.subject_id, before)
    return Due(who, tuple(_within(tx, who, ErasureMode.MEMORIES, stays.retired, stays)), ())


def due_records(tx: Transaction, who: SubjectRef, before: datetime) -> Due:
    """Return the texts of old decisions, closed reviews and receipts that nothing rests on."""
    stays = _Stays(tx, who.subject_id, before)
    bodies = tuple(_bodies(tx, who, before, stays))
    receipts = tuple(_receipts(tx, who.subject_id, before))
    if not (bodies or stays.closed):
        return Due(who, (), receipts)
    plan = ErasurePlan(
        mode=ErasureMode.MEMORIES,
        subject_id=who.subject_id,
        state=tx.erasure.held.state(who.subject_id),
        reviews=stays.closed,
        bodies=bodies,
    )
    return Due(who, (_of_records(plan),), receipts)


def _of_records(plan: ErasurePlan) -> Drawn:
    """Return a plan that takes no statement: what was said may be said again at any time."""
    return Drawn(
        plan=plan,
        texts=(),
        said=(),
        forbidden=(),
        values=(),
        memories=(),
        turns={},
        copies={},
    )


class _Stays:
    """What of a user has to stay, and what is old enough to go."""

    def __init__(self, tx: Transaction, subject_id: str, before: datetime) -> None:
        held = tx.erasure.held.memories(subject_id)
        memories = tx.memories.many(subject_id, [m.id for m in held])
        gone = [m for m in memories if _retired(m.status) and m.updated_at < before]
        self.retired = tuple(m.id for m in gone)
        self.kept = {m.id for m in memories} - set(self.retired)
        stay = [m for m in memories if m.id in self.kept]
        reviews = _reviews(tx, subject_id)
        waiting = [r for r in reviews if not _closed(r, before)]
        self.closed = tuple(r.id for r in reviews if _closed(r, before))
        self.reviews = {r.id for r in waiting}
        self.turns = {m.origin.turn_id for m in stay}
        self.turns |= {r.candidate.get("turn_id") for r in waiting}
        self.decisions = {m.decision_id for m in stay} | {r.decision_id for r in waiting}
        turns = tx.turns.of_subject(subject_id)
        self.old_turns = {turn.id for turn in turns if turn.recorded_at < before}

    def allow(self, plan: ErasurePlan) -> bool:
        """Return whether a plan takes nothing that has to stay."""
        turns = set(plan.turns)
        taken = (
            turns - self.old_turns,
            turns & self.turns,
            self.kept & set(plan.memories),
            self.reviews & set(plan.reviews),
            plan.lessons,
        )
        return not any(taken)


STEPS: Final[Sequence[Step]] = (due_turns, due_memories, due_records)
"""In this order: what one erases, the next no longer finds."""


def _within(
    tx: Transaction, who: SubjectRef, mode: ErasureMode, ids: Sequence[str], stays: _Stays
) -> Iterator[Drawn]:
    """Draw up plans for ids, leaving out those whose plan would take what has to stay.

    Only one plan at a time fits the state of the user's memory, so the largest part is taken.
    """
    allowed: list[str] = []
    for start in range(0, len(ids), _TOGETHER):
        allowed += _allowed(tx, who, mode, ids[start : start + _TOGETHER], stays)
    if not allowed:
        return
    drawn = draw(tx, who.subject_id, Asked(mode, tuple(allowed)))
    if stays.allow(drawn.plan):
        yield drawn


def _allowed(
    tx: Transaction, who: SubjectRef, mode: ErasureMode, ids: Sequence[str], stays: _Stays
) -> list[str]:
    """Return the ids that may go, halving what may not go together."""
    if not ids:
        return []
    if stays.allow(draw(tx, who.subject_id, Asked(mode, tuple(ids))).plan):
        return list(ids)
    if len(ids) == 1:
        return []
    middle = len(ids) // 2
    parts = (ids[:middle], ids[middle:])
    return [one for part in parts for one in _allowed(tx, who, mode, part, stays)]


def _bodies(tx: Transaction, who: SubjectRef, before: datetime, stays: _Stays) -> Iterator[BodyRef]:
    """Return the texts of old decisions that no memory that stays was made by or is named in."""
    which, last = AuditFilter(subject_id=who.subject_id, until=before), -1
    while rows := tx.audit.after(which, last, _ENTRIES):
        last = rows[-1].seq
        for row in rows:
            if not row.bodies:
                continue
            draft = parse_entry(row.entry).draft
            decision = (draft.decision or {}).get("id")
            named = not stays.kept.isdisjoint(draft.memory)
            if isinstance(decision, str) and decision not in stays.decisions and not named:
                yield BodyRef(row.seq, decision, tuple(sorted(row.bodies)))


def _reviews(tx: Transaction, subject_id: str) -> list[Review]:
    found: list[Review] = []
    page = PageRequest(limit=_PAGE)
    while True:
        part = tx.reviews.list(page, subject_id=subject_id)
        found += part.items
        if part.next_cursor is None:
            return found
        page = PageRequest(_PAGE, part.next_cursor)


def _receipts(tx: Transaction, subject_id: str, before: datetime) -> Iterator[str]:
    for held in tx.erasure.held.receipts(subject_id):
        record = tx.receipts.get(held.id)
        if record is not None and record.recorded_at < before:
            yield held.id


def _closed(review: Review, before: datetime) -> bool:
    closed = review.closed_at if review.status is not ReviewStatus.OPEN else None
    return closed is not None and closed < before


def _retired(status: MemoryStatus) -> bool:
    return status is not MemoryStatus.ACTIVE

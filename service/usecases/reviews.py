"""The review queue: what the gate could not decide, a person does, exactly once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from service.domain.digests import review_digest
from service.domain.errors import Conflict, NotFound
from service.domain.memory import Review, ReviewStatus
from service.domain.verdicts import ReasonCode, Verdict
from service.ports.clock import Clock
from service.ports.storage import (
    Database,
    EntryDraft,
    Page,
    PageRequest,
    Scope,
    StoredAnswer,
    Transaction,
)
from service.usecases.memorize import Memorize, Remembered
from service.usecases.once import Once, earlier_answer, write_once
from service.usecases.plan import Plan
from service.usecases.policies import find_policy
from service.usecases.proposals import Intake, Proposal, Status, from_json

_CLOSED = "This review is closed already."


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An item of the queue and, after its approval, what became of the fact."""

    review: Review
    user_id: str
    result: Remembered | None = None


class ManageReviews:
    """The use cases behind ``/reviews``."""

    def __init__(self, *, memorize: Memorize, database: Database, clock: Clock) -> None:
        self._memorize = memorize
        self._database = database
        self._clock = clock

    def list(
        self, scope: Scope, user_id: str | None, status: ReviewStatus | None, page: PageRequest
    ) -> Page[Reviewed]:
        """Return items of the tenant's queue, newest first."""

        def work(tx: Transaction) -> Page[Reviewed]:
            subject = tx.subjects.find(user_id) if user_id is not None else None
            if user_id is not None and subject is None:
                return Page((), None, 0)
            found = tx.reviews.list(page, subject_id=subject, status=status)
            items = tuple(Reviewed(r, _user_of(tx, r)) for r in found.items)
            return Page(items, found.next_cursor, found.total)

        return self._database.read(scope, work)

    def get(self, scope: Scope, review_id: str, user_id: str | None) -> Reviewed:
        """Return one item; raises ``NotFound``, also for another user's."""
        return self._database.read(scope, lambda tx: _find(tx, review_id, user_id))

    def reject(
        self,
        scope: Scope,
        review_id: str,
        user_id: str | None,
        note: str,
        once: Once[Reviewed] | None = None,
    ) -> Reviewed | StoredAnswer:
        """Close an item; nothing is remembered. Raises ``Conflict`` if it is closed already."""

        def work(tx: Transaction) -> Reviewed:
            found = _find(tx, review_id, user_id)
            closed = self._close(tx, found.review, ReviewStatus.REJECTED, note, None)
            return replace(found, review=closed)

        return write_once(self._database, scope, self._clock, once, work)

    def approve(
        self,
        scope: Scope,
        review_id: str,
        user_id: str | None,
        note: str,
        once: Once[Reviewed] | None = None,
    ) -> Reviewed | StoredAnswer:
        """Let a fact pass; gate and adjudication run again on what holds now.

        Raises:
            NotFound: no such item, or its turn was erased.
            Conflict: it is closed already, the gate rejects the fact by now, or what is stored
                outweighs it; then the item stays open.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored

        def read(tx: Transaction) -> tuple[Reviewed, Proposal]:
            found = _find(tx, review_id, user_id)
            return found, _proposal(tx, found.review)

        found, proposal = self._database.read(scope, read)
        _require_open(found.review)
        policy = self._database.read(scope, lambda tx: find_policy(tx, None))
        prepared = self._memorize.judge(found.user_id, Intake((), (proposal,)), policy)
        check = prepared.judged[0].check
        if check.verdict is Verdict.REJECT or check.reason_code is ReasonCode.SECRET:
            raise Conflict(f"The gate rejects it now ({check.reason_code.value}): {check.reason}")
        finish = self._finisher(found, note)
        owner = replace(proposal.turn.owner, subject_id="")
        return self._memorize.write(scope, prepared, owner, once, finish)

    def _finisher(
        self, found: Reviewed, note: str
    ) -> Callable[[Transaction, Plan, Remembered], Reviewed]:
        def finish(tx: Transaction, plan: Plan, result: Remembered) -> Reviewed:
            outcome = plan.outcomes[0]
            if outcome.status in (Status.BLOCKED, Status.REJECTED, Status.REVIEW):
                raise Conflict(f"Not approved ({outcome.reason_code}): {outcome.reason}")
            closed = self._close(tx, found.review, ReviewStatus.APPROVED, note, outcome.memory_id)
            return Reviewed(closed, found.user_id, result)

        return finish

    def _close(
        self,
        tx: Transaction,
        review: Review,
        status: ReviewStatus,
        note: str,
        memory_id: str | None,
    ) -> Review:
        _require_open(review)
        closed = replace(
            review,
            status=status,
            closed_at=self._clock.now(),
            closed_by=tx.scope.actor,
            note=note,
            memory_id=memory_id,
        )
        if not tx.reviews.close(closed):
            raise Conflict(_CLOSED)
        memories = (memory_id,) if memory_id else ()
        draft = EntryDraft(
            kind=f"review.{status.value}",
            actor=tx.scope.actor,
            subject=review.subject_id,
            memory=(review.id, *memories),
            state_before=review_digest(review),
            state_after=review_digest(closed),
        )
        tx.audit.append(draft, {})
        return closed


def _require_open(review: Review) -> None:
    if review.status is not ReviewStatus.OPEN:
        raise Conflict(_CLOSED)


def _find(tx: Transaction, review_id: str, user_id: str | None) -> Reviewed:
    review = tx.reviews.get(review_id)
    owner = _user_of(tx, review) if review is not None else ""
    if review is None or (user_id is not None and owner != user_id):
        raise NotFound("review")
    return Reviewed(review, owner)


def _user_of(tx: Transaction, review: Review) -> str:
    """Return whose candidate it is, by its turn; empty once that was erased."""
    turn = tx.turns.get(str(review.candidate.get("turn_id")))
    return turn.owner.user_id if turn is not None else ""


def _proposal(tx: Transaction, review: Review) -> Proposal:
    turn = tx.turns.get(str(review.candidate.get("turn_id")))
    if turn is None:
        raise NotFound("turn of this review")
    return from_json(review.candidate, turn, review.id)

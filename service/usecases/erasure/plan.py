"""The first step: say what would be erased, and change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from service.domain.erasure import Asked, ErasureReason, StoredPlan
from service.domain.erasure_text import repeats
from service.domain.errors import InvalidInput, NotFound
from service.ports.clock import Clock
from service.ports.storage import Database, Scope, StoredAnswer, Transaction
from service.usecases.erasure.draw import Drawn, draw
from service.usecases.once import Once, earlier_answer, write_once

VALID_FOR: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class PlanCommand:
    """What to erase, and why.

    Attributes:
        reason_code: what the log will say; it can never be erased.
        reason: a note that is kept with the receipt; it may not repeat what is erased.
    """

    user_id: str
    asked: Asked
    reason_code: ErasureReason
    reason: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with the texts that whoever confirms it has to see."""

    user_id: str
    stored: StoredPlan
    drawn: Drawn

    @property
    def counts(self) -> dict[str, int]:
        """Return how much goes, copies that were made by reading included."""
        plan = self.drawn.plan
        return dict(plan.counts) | dict(self.drawn.copies) if plan.counts else self._counted()

    def _counted(self) -> dict[str, int]:
        plan = self.drawn.plan
        return {
            "memories": len(plan.memories),
            "turns": len(plan.turns),
            "texts": sum(len(b.names) for b in plan.bodies),
            "reviews": len(plan.reviews),
            "conflicts": len(plan.conflicts),
            "lessons": len(plan.lessons),
            "reasons": len(plan.events) + len(plan.restated),
            **self.drawn.copies,
        }


class PlanErasure:
    """The use case behind ``POST /erasures/plan``."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def run(
        self, scope: Scope, command: PlanCommand, once: Once[Planned] | None = None
    ) -> Planned | StoredAnswer:
        """Return what would go; the plan is kept, as ids, for a day.

        Raises:
            NotFound: no such user, memory or turn; the same for somebody else's.
            InvalidInput: the reason repeats what is to be erased.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored
        planned = self._database.read(scope, lambda tx: self._draw(tx, command))

        def keep(tx: Transaction) -> Planned:
            tx.subjects.find(command.user_id)  # whose a stored answer is
            tx.erasure.records.drop_plans(before=self._clock.now())
            tx.erasure.records.put_plan(planned.stored)
            return planned

        return write_once(self._database, scope, self._clock, once, keep)

    def _draw(self, tx: Transaction, command: PlanCommand) -> Planned:
        subject = tx.subjects.find(command.user_id)
        if subject is None:
            raise NotFound("user")
        drawn = draw(tx, subject, command.asked)
        _check_reason(command, drawn)
        now = self._clock.now()
        stored = StoredPlan(
            plan_sha256=drawn.plan.digest,
            subject_id=subject,
            asked=command.asked,
            reason_code=command.reason_code,
            reason=command.reason,
            created_at=now,
            expires_at=now + VALID_FOR,
        )
        return Planned(command.user_id, stored, drawn)


def _check_reason(command: PlanCommand, drawn: Drawn) -> None:
    """Refuse a reason that would keep what it is the reason to erase."""
    if repeats(command.reason, drawn.texts, drawn.values):
        raise InvalidInput(
            "reason",
            "repeats what is to be erased, and is kept with the receipt; say it in other words, "
            "for example with a ticket's number",
        )

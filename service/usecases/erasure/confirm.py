"""The second step: erase what was planned, if it is still what would be planned."""

from __future__ import annotations

from service.domain.erasure import ErasureRecord, StoredPlan
from service.domain.errors import Conflict, NotFound
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Database, Scope, StoredAnswer, Transaction
from service.usecases.erasure.carry_out import Order, carry_out
from service.usecases.erasure.draw import Drawn, draw
from service.usecases.erasure.finish import Finisher
from service.usecases.once import Once, earlier_answer, write_once

_STALE = "Something about this user changed since the plan was made; plan again."


class ConfirmErasure:
    """The use cases behind ``POST /erasures`` and ``GET /erasures/{id}``."""

    def __init__(
        self, *, database: Database, clock: Clock, identifiers: Identifiers, finisher: Finisher
    ) -> None:
        self._database = database
        self._clock = clock
        self._identifiers = identifiers
        self._finisher = finisher

    def run(
        self,
        scope: Scope,
        plan_sha256: str,
        *,
        allow_collateral: bool,
        once: Once[ErasureRecord] | None = None,
    ) -> ErasureRecord | StoredAnswer:
        """Erase what a plan names; a plan that was confirmed before gives the same receipt.

        Raises:
            NotFound: there is no such plan.
            Conflict: the plan is stale or expired, or takes memories that need consent.
            Unavailable: the database cannot serve; nothing was erased.
        """
        answered = earlier_answer(self._database, scope, once)
        if answered is not None:
            return answered
        record = self._run(scope, plan_sha256, allow_collateral=allow_collateral)
        if once is None:
            return record
        return write_once(self._database, scope, self._clock, once, lambda _tx: record)

    def _run(self, scope: Scope, plan_sha256: str, *, allow_collateral: bool) -> ErasureRecord:
        known = self._database.read(scope, lambda tx: tx.erasure.records.by_plan(plan_sha256))
        if known is not None:
            return self._finisher.finish(scope.tenant, known)
        stored, drawn = self._database.read(scope, lambda tx: self._again(tx, plan_sha256))
        if drawn.plan.collateral and not allow_collateral:
            count = len(drawn.plan.collateral)
            raise Conflict(
                f"{count} other {'memory comes' if count == 1 else 'memories come'} from what is "
                "to be erased and would go too; set allow_collateral to erase them as well."
            )
        order = Order(self._identifiers.new("era"), stored, drawn, self._clock.now())
        record = self._database.write(scope, lambda tx: self._erase(tx, order))
        if record.id == order.id:
            self._finisher.expect(record.id, drawn)
        return self._finisher.finish(scope.tenant, record)

    def get(self, scope: Scope, erasure_id: str) -> ErasureRecord:
        """Return a receipt; what is not complete yet is tried again first. Raises ``NotFound``."""
        record = self._database.read(scope, lambda tx: tx.erasure.records.get(erasure_id))
        if record is None:
            raise NotFound("erasure")
        return self._finisher.finish(scope.tenant, record)

    def _again(self, tx: Transaction, plan_sha256: str) -> tuple[StoredPlan, Drawn]:
        """Draw the plan up again, on what there is now."""
        stored = tx.erasure.records.plan(plan_sha256)
        if stored is None:
            raise NotFound("plan")
        if stored.expires_at <= self._clock.now():
            raise Conflict("This plan has expired; plan again.")
        try:
            drawn = draw(tx, stored.subject_id, stored.asked)
        except NotFound as error:
            raise Conflict(_STALE) from error
        if drawn.plan.digest != plan_sha256:
            raise Conflict(_STALE)
        return stored, drawn

    def _erase(self, tx: Transaction, order: Order) -> ErasureRecord:
        known = tx.erasure.records.by_plan(order.stored.plan_sha256)
        if known is not None:
            return known
        plan = order.drawn.plan
        if tx.erasure.held.state(plan.subject_id) != plan.state:
            raise Conflict(_STALE)
        return carry_out(tx, order)

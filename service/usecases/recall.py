"""Recall: what is known that answers a query, or nothing and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from service.domain.errors import Conflict, ReadOnly
from service.domain.policy import Policy
from service.domain.recall.asking import read_query
from service.domain.recall.eligible import Filters
from service.domain.recall.outcome import Outcome
from service.domain.recall.receipts import Asked, Circumstances
from service.domain.recall.scoring import Weights
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Database, Head, Scope, StoredAnswer, Transaction
from service.usecases.once import Once, earlier_answer, write_once
from service.usecases.policies import find_policy
from service.usecases.recall_answer import Answerer, Prepared
from service.usecases.recall_shown import Answer, shown
from service.usecases.receipts import Issuer, Receipt

__all__ = ["Answer", "RecallCommand", "RecallMemories", "Recalled"]


@dataclass(frozen=True, slots=True)
class RecallCommand:
    """A request: what is not given comes from the policy."""

    user_id: str
    query: str
    top_k: int = 5
    threshold: float | None = None
    alpha: float | None = None
    beta: float | None = None
    filters: Filters = field(default_factory=Filters)
    policy: str | None = None
    receipt: bool = True


@dataclass(frozen=True, slots=True)
class Recalled:
    """What came of a recall."""

    outcome: Outcome
    answers: tuple[Answer, ...]
    weights: Weights
    policy: Policy
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class _Found:
    subject_id: str | None
    recalled: Recalled
    asked: Asked
    head: Head


class RecallMemories:
    """The use case behind ``POST /recall``."""

    def __init__(
        self,
        *,
        database: Database,
        answerer: Answerer,
        issuer: Issuer,
        clock: Clock,
        identifiers: Identifiers,
    ) -> None:
        self._database = database
        self._answerer = answerer
        self._issuer = issuer
        self._clock = clock
        self._identifiers = identifiers

    def run(
        self, scope: Scope, command: RecallCommand, once: Once[Recalled] | None = None
    ) -> Recalled | StoredAnswer:
        """Return what answers a query; without a receipt where nothing can be written any more.

        Raises:
            NotFound: no such policy.
            Overloaded: the queue before a model is full.
            Unavailable: a model is not loaded.
        """
        earlier = earlier_answer(self._database, scope, once)
        if earlier is not None:
            return earlier
        now, query = self._clock.now(), read_query(command.query)
        vector = self._answerer.embed(query)

        def look(tx: Transaction) -> _Found:
            policy = find_policy(tx, command.policy)
            asked = _asked(command, policy)
            head = tx.audit.head()
            subject, outcome = self._answerer.answer(tx, Prepared(asked, query, vector, now))
            answers = shown(tx, subject, outcome, current=asked.filters.as_of is None)
            recalled = Recalled(outcome, answers, asked.weights, policy, None)
            return _Found(subject, recalled, asked, head)

        found = self._database.read(scope, look)
        receipt = self._receipt(scope, found, now) if command.receipt else None
        recalled = replace(found.recalled, receipt=receipt)
        if receipt is None and once is None:
            return recalled

        def keep(tx: Transaction) -> Recalled:
            _refuse_erased(tx, found)
            if receipt is not None:
                self._issuer.store(tx, receipt)
            return recalled

        try:
            return write_once(self._database, scope, self._clock, once, keep)
        except ReadOnly:  # what is known can still be told; a receipt that is not kept is none
            return found.recalled

    def _receipt(self, scope: Scope, found: _Found, now: datetime) -> Receipt | None:
        """Return a signed receipt; one about nobody known could never be erased, so none."""
        if found.subject_id is None:
            return None
        under = Circumstances(
            id=self._identifiers.new("rcp"),
            at=now,
            tenant=scope.tenant,
            policy=found.recalled.policy.fingerprint,
            models=self._answerer.models(),
            origin=found.head.origin,
            size=found.head.size,
            leaf=found.head.leaf,
        )
        return self._issuer.issue(found.asked, under, found.recalled.outcome, found.subject_id)


def _refuse_erased(tx: Transaction, found: _Found) -> None:
    """Raise ``Conflict`` if something was erased since: what was found would stay as a copy."""
    subject = found.subject_id
    if subject is not None and tx.receipts.erased_since(subject, found.head.size):
        raise Conflict("Something of this user was erased meanwhile; ask again.")


def _asked(command: RecallCommand, policy: Policy) -> Asked:
    def given(value: float | None, default: float) -> float:
        return default if value is None else value

    weights = Weights(
        alpha=given(command.alpha, policy.alpha),
        beta=given(command.beta, policy.beta),
        threshold=given(command.threshold, policy.recall_threshold),
    )
    return Asked(command.user_id, command.query, command.top_k, weights, command.filters)

"""Weigh an incoming memory against given or stored ones, and record what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.errors import Conflict, NotFound
from service.domain.policy import Policy
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Appended, Database, Scope, StoredAnswer, Transaction
from service.usecases.adjudicate import Adjudicator, Party
from service.usecases.decisions import record
from service.usecases.erasure.guard import is_stale
from service.usecases.gate import Gate
from service.usecases.known import with_sources
from service.usecases.once import Once, earlier_answer, write_once
from service.usecases.policies import find_policy
from service.usecases.weighing import Weighed, weigh, weighing_decision


@dataclass(frozen=True, slots=True)
class WeighCommand:
    """What to weigh: ``existing`` inline, or ``existing_ids`` of the user's stored memories.

    Without ``user_id`` the decision is recorded, but no text is kept.
    """

    incoming: Party
    existing: tuple[Party, ...] = ()
    existing_ids: tuple[str, ...] = ()
    user_id: str | None = None
    policy: str | None = None
    record: bool = True


@dataclass(frozen=True, slots=True)
class WeighAnswer:
    """An adjudication as it was made and, where recorded, where it is in the log."""

    decision_id: str
    weighed: Weighed
    policy: Policy
    models: Mapping[str, str]
    audit: Appended | None = None
    salts: Mapping[str, str] | None = None


class WeighFacts:
    """The use case behind ``POST /adjudicate``; it changes no memory."""

    def __init__(
        self,
        *,
        adjudicator: Adjudicator,
        gate: Gate,
        database: Database,
        clock: Clock,
        identifiers: Identifiers,
    ) -> None:
        self._adjudicator = adjudicator
        self._gate = gate
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def run(
        self, scope: Scope, command: WeighCommand, once: Once[WeighAnswer] | None = None
    ) -> WeighAnswer | StoredAnswer:
        """Return what follows for the incoming memory and for each existing one.

        Raises:
            NotFound: an unknown policy, or an id that is not this user's.
            Overloaded, Unavailable: a model or the database cannot serve; nothing was recorded.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored

        def read(tx: Transaction) -> tuple[Policy, dict[str, bool], tuple[Party, ...]]:
            existing = command.existing + _stored(tx, command)
            return find_policy(tx, command.policy), tx.attributes.all(), existing

        policy, functional, existing = self._database.read(scope, read)
        weighed = weigh(self._adjudicator, existing, command.incoming, policy, functional)
        answer = WeighAnswer(self._identifiers.new("chk"), weighed, policy, self._gate.models())
        if not command.record:
            return answer

        def work(tx: Transaction) -> WeighAnswer:
            subject = _owner(tx, command)
            decision = weighing_decision(
                answer.decision_id, weighed, policy, answer.models, command.existing_ids
            )
            appended, salts = record(tx, subject, decision, self._clock.now())
            return WeighAnswer(
                answer.decision_id, weighed, policy, answer.models, appended, salts or None
            )

        return write_once(self._database, scope, self._clock, once, work)


def _owner(tx: Transaction, command: WeighCommand) -> str | None:
    """Return whose decision it is; nobody's if it would keep what was erased after it was said.

    Raises ``Conflict`` if one of the user's memories was erased while it was weighed.
    """
    if command.user_id is None:
        return None
    subject = tx.subjects.find(command.user_id)
    wanted = set(command.existing_ids)
    if wanted and (subject is None or len(tx.memories.many(subject, list(wanted))) < len(wanted)):
        raise Conflict("A memory was erased meanwhile; nothing was recorded.")
    for party in (command.incoming, *command.existing):
        said = party.input
        if is_stale(tx, command.user_id, (said.fact, said.source), said.observed_at):
            return None
    return tx.subjects.id_for(command.user_id)


def _stored(tx: Transaction, command: WeighCommand) -> tuple[Party, ...]:
    subject = tx.subjects.find(command.user_id) if command.user_id else None
    ids = tuple(dict.fromkeys(command.existing_ids))
    found = tx.memories.many(subject, ids) if subject else []
    if len(found) != len(ids):
        raise NotFound("memory")
    return tuple(known.party for known in with_sources(tx, found))

"""What every path that writes a memory has in common: gate, adjudication, one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from service.domain.check import CheckOutcome
from service.domain.extraction.types import Skipped
from service.domain.memory import Owner
from service.domain.policy import Policy
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.index import Vector
from service.ports.models import Embedder
from service.ports.storage import Database, Scope, StoredAnswer, Transaction
from service.usecases.commit import Committing, Done, commit, decide
from service.usecases.erasure.guard import refuse_erased
from service.usecases.gate import Gate
from service.usecases.known import unchanged
from service.usecases.once import Once, write_once
from service.usecases.plan import Plan, Planner
from service.usecases.proposals import Intake, Judged, Proposal, dated
from service.usecases.surroundings import Surroundings, Surveyor
from service.usecases.turnstile import Changed, Turnstile

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a request, fact by fact, and what was left out and why."""

    results: tuple[Done, ...]
    skipped: tuple[Skipped, ...]
    turn_ids: tuple[str, ...]
    policy: Policy
    models: dict[str, str]
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """An intake that the gate has judged."""

    user_id: str
    intake: Intake
    judged: tuple[Judged, ...]
    policy: Policy


class Memorize:
    """Judges proposals and writes what comes of them."""

    def __init__(
        self,
        *,
        gate: Gate,
        planner: Planner,
        surveyor: Surveyor,
        database: Database,
        clock: Clock,
        identifiers: Identifiers,
        embedder: Embedder,
    ) -> None:
        self._gate = gate
        self._embedder = embedder
        self._planner = planner
        self._surveyor = surveyor
        self._database = database
        self._clock = clock
        self._identifiers = identifiers
        self._turnstile = Turnstile()

    def _vectors(self, plan: Plan) -> dict[str, Vector]:
        """Return the embedding of each memory that the plan makes, by id."""
        new = [s.after for s in plan.steps if s.before is None]
        made = self._embedder.embed([m.text for m in new]) if new else ()
        return {m.id: vector for m, vector in zip(new, made, strict=True)}

    def models(self) -> dict[str, str]:
        """Return the digests of the models."""
        return dict(self._gate.models())

    def judge(self, user_id: str, intake: Intake, policy: Policy) -> Prepared:
        """Put every proposal to the gate, in one batch."""
        proposals = intake.proposals
        checks = self._gate.judge([(p.question, policy) for p in proposals]) if proposals else []
        judged = tuple(
            Judged(_located(p, check), check, self._identifiers.new("chk"))
            for p, check in zip(proposals, checks, strict=True)
        )
        return Prepared(user_id, intake, judged, policy)

    def plan(self, scope: Scope, prepared: Prepared, owner: Owner) -> tuple[Surroundings, Plan]:
        """Work out what would change; changes nothing."""
        judged, policy = prepared.judged, prepared.policy
        around = self._surveyor.survey(scope, prepared.user_id, judged, policy)
        return around, self._planner.plan(judged, around, policy, owner, self._clock.now())

    def write(
        self,
        scope: Scope,
        prepared: Prepared,
        owner: Owner,
        once: Once[A] | None,
        finish: Callable[[Transaction, Plan, Remembered], A],
    ) -> A | StoredAnswer:
        """Plan and commit; plan again if what the plan rests on changed meanwhile.

        ``finish`` runs last in the same transaction; what it raises undoes everything.
        """

        def attempt() -> A | StoredAnswer:
            now = self._dated(prepared)
            around, plan = self.plan(scope, now, owner)
            vectors, models = self._vectors(plan), self.models()
            decided = decide(plan, prepared.policy, models)

            def work(tx: Transaction) -> A:
                refuse_erased(tx, prepared.user_id, now.intake)
                subject = tx.subjects.id_for(prepared.user_id)
                if not unchanged(tx, subject, around.keys, around.seen):
                    raise Changed
                at = self._clock.now()
                given = Committing(prepared.policy, models, self._identifiers, at, decided, vectors)
                done = commit(tx, subject, now.intake, plan, given)
                return finish(tx, plan, self.answer(now, done))

            return write_once(self._database, scope, self._clock, once, work)

        return self._turnstile.run(scope.tenant, prepared.user_id, attempt)

    def _dated(self, prepared: Prepared) -> Prepared:
        """Return it with turns that nobody dated said at this moment."""
        intake, moment = prepared.intake, self._clock.now()
        fresh = tuple(dated(t, intake, moment) for t in intake.fresh)
        judged = tuple(
            replace(j, proposal=replace(j.proposal, turn=dated(j.proposal.turn, intake, moment)))
            for j in prepared.judged
        )
        return replace(prepared, intake=replace(intake, fresh=fresh), judged=judged)

    def answer(
        self, prepared: Prepared, done: Sequence[Done], *, dry_run: bool = False
    ) -> Remembered:
        """Return what is answered."""
        intake = prepared.intake
        turns = () if dry_run else tuple(t.id for t in intake.fresh)
        return Remembered(
            tuple(done), intake.skipped, turns, prepared.policy, self.models(), dry_run
        )


def _located(proposal: Proposal, check: CheckOutcome) -> Proposal:
    """Return the proposal with its passage: a structured fact gets it from the gate's evidence."""
    found, whole = check.evidence, (0, len(proposal.turn.text))
    if found is None or proposal.said_as or (proposal.start, proposal.end) != whole:
        return proposal
    return replace(proposal, start=found.start, end=found.end)

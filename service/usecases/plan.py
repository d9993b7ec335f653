"""What a request will change, worked out before the transaction that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from service.domain import memory_state
from service.domain.adjudication import AdjudicationVerdict, Relation
from service.domain.attributes import is_functional
from service.domain.errors import Conflict
from service.domain.memory import Memory, MemoryAction, MemoryStatus, Owner
from service.domain.policy import Policy
from service.domain.verdicts import ReasonCode, Verdict
from service.ports.identifiers import Identifiers
from service.usecases.adjudicate import Adjudicator
from service.usecases.journal import Step
from service.usecases.known import Known, incoming_party, key_of
from service.usecases.proposals import Judged, Proposal, Status
from service.usecases.surroundings import Surroundings
from service.usecases.weighing import Weighed, weigh, with_keys

NOTHING_TO_RETRACT = "nothing_to_retract"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of one proposal.

    ``memory_id`` is the memory that now says it (or, for a retraction, no longer does);
    ``superseded_ids`` what it replaced; ``retracted_ids`` what it ended; ``hotspots`` what it may
    contradict; ``weighing_id`` the id of the adjudication as a decision.
    """

    status: Status
    judged: Judged
    reason_code: str
    reason: str
    memory_id: str | None = None
    superseded_ids: tuple[str, ...] = ()
    retracted_ids: tuple[str, ...] = ()
    hotspots: tuple[str, ...] = ()
    weighed: Weighed | None = None
    weighing_id: str | None = None
    review_id: str | None = None


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two memories that cannot both be true."""

    first: str
    second: str
    reason: str
    confidence: float


@dataclass(slots=True)
class Plan:
    """The outcomes, and the steps that lead to them, in order."""

    outcomes: list[Outcome] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    disputes: list[Dispute] = field(default_factory=list)


class Planner:
    """Goes through proposals one by one; each sees what the ones before it changed."""

    def __init__(self, *, adjudicator: Adjudicator, identifiers: Identifiers) -> None:
        self._adjudicator = adjudicator
        self._identifiers = identifiers

    def plan(
        self,
        judged: Sequence[Judged],
        around: Surroundings,
        policy: Policy,
        owner: Owner,
        now: datetime,
    ) -> Plan:
        """Return what to do; asks the adjudicator, changes nothing."""
        work = _Work(
            around=around,
            policy=policy,
            owner=owner,
            now=now,
            adjudicator=self._adjudicator,
            identifiers=self._identifiers,
        )
        for position, one in enumerate(judged):
            work.take(one, around.near[position] if around.near else frozenset())
        return work.plan


class _Work:
    """The state of one planning."""

    def __init__(
        self,
        *,
        around: Surroundings,
        policy: Policy,
        owner: Owner,
        now: datetime,
        adjudicator: Adjudicator,
        identifiers: Identifiers,
    ) -> None:
        self.plan = Plan()
        self._known = dict(around.known)
        self._functional = around.functional
        self._policy, self._owner, self._now = policy, owner, now
        self._adjudicator, self._identifiers = adjudicator, identifiers

    def take(self, judged: Judged, near: frozenset[str]) -> None:
        """Decide on one proposal."""
        refused = self._refused(judged)
        if refused is not None:
            self.plan.outcomes.append(refused)
            return
        existing = self._existing(judged.proposal, near)
        weighed = self._weigh(judged, existing) if existing else None
        outcome = self._after(judged, weighed)
        if weighed is not None:
            outcome = replace(outcome, weighed=weighed, weighing_id=self._identifiers.new("chk"))
        self.plan.outcomes.append(outcome)

    def _refused(self, judged: Judged) -> Outcome | None:
        """Return the outcome if the gate already settles it."""
        check = judged.check
        code, reason = check.reason_code.value, check.reason
        if check.verdict is Verdict.REJECT or check.reason_code is ReasonCode.SECRET:
            return Outcome(Status.REJECTED, judged, code, reason)
        if check.verdict is Verdict.REVIEW and judged.proposal.approved_by is None:
            return self._to_review(judged, code, reason)
        return None

    def _to_review(
        self, judged: Judged, code: str, reason: str, hotspots: tuple[str, ...] = ()
    ) -> Outcome:
        review = self._identifiers.new("rev")
        return Outcome(Status.REVIEW, judged, code, reason, hotspots=hotspots, review_id=review)

    def _existing(self, proposal: Proposal, near: frozenset[str]) -> list[Known]:
        key = key_of(proposal)
        wanted = near | {proposal.replaces}
        return [
            k
            for k in self._known.values()
            if k.memory.status is MemoryStatus.ACTIVE
            and (key_of(k.memory) == key or k.memory.id in wanted)
        ]

    def _weigh(self, judged: Judged, existing: Sequence[Known]) -> Weighed:
        incoming = incoming_party(judged)
        if judged.proposal.approved_by is not None:
            passed = replace(judged.check, verdict=Verdict.STORE, reason_code=ReasonCode.SUPPORTED)
            incoming = replace(incoming, check=passed)
        parties = [k.party for k in existing]
        weighed = weigh(self._adjudicator, parties, incoming, self._policy, self._functional)
        triple = judged.proposal.triple
        return with_keys(
            weighed,
            triple,
            [k.memory.triple for k in existing],
            self._policy,
            functional=is_functional(triple.attribute, self._functional),
        )

    def _after(self, judged: Judged, weighed: Weighed | None) -> Outcome:
        proposal = judged.proposal
        if weighed is None:
            return self._retract(judged, ()) if proposal.retracts else self._create(judged, None)
        outcome = weighed.outcome
        decided = proposal.replaces is not None
        if outcome.verdict is AdjudicationVerdict.BLOCK and not decided:
            hotspots = _ids(weighed, Relation.CONFLICTS, Relation.SUPERSEDES)
            code = outcome.reason_code
            return Outcome(Status.BLOCKED, judged, code, outcome.reason, hotspots=hotspots)
        if outcome.verdict is AdjudicationVerdict.REVIEW and not (decided or proposal.approved_by):
            hotspots = _ids(weighed, Relation.CONFLICTS, Relation.SUPERSEDES)
            return self._to_review(judged, outcome.reason_code, outcome.reason, hotspots)
        if proposal.retracts:
            return self._retract(judged, _retired(weighed))
        same = [i for i in _ids(weighed, Relation.DUPLICATE) if i != proposal.replaces]
        return self._confirm(judged, weighed, same[0]) if same else self._create(judged, weighed)

    def _retract(self, judged: Judged, contradicted: tuple[str, ...]) -> Outcome:
        proposal = judged.proposal
        ended = dict.fromkeys([*self._same_value(proposal), *contradicted])
        if not ended:
            reason = "Nothing that is remembered says otherwise, so there was nothing to end."
            return Outcome(Status.IGNORED, judged, NOTHING_TO_RETRACT, reason)
        until = proposal.valid_to or proposal.valid_from or proposal.turn.observed_at
        for memory_id in ended:
            before = self._known[memory_id].memory
            after = memory_state.retracted(before, reason=proposal.text, at=self._now, until=until)
            self._step(MemoryAction.RETRACTED, after, before, proposal.text)
        first = next(iter(ended))
        reason = "It no longer holds."
        return Outcome(
            Status.RETRACTED, judged, "retracted", reason, first, retracted_ids=tuple(ended)
        )

    def _same_value(self, proposal: Proposal) -> list[str]:
        value = proposal.triple.value.casefold().strip()
        return [
            k.memory.id
            for k in self._existing(proposal, frozenset())
            if k.memory.triple.polarity and k.memory.triple.value.casefold().strip() == value
        ]

    def _confirm(self, judged: Judged, weighed: Weighed, memory_id: str) -> Outcome:
        memory = self._known[memory_id].memory
        replaced = self._supersede(judged, weighed, memory_id)
        self._step(MemoryAction.CONFIRMED, memory, memory, judged.proposal.text)
        code, reason = weighed.outcome.reason_code, weighed.outcome.reason
        return Outcome(Status.CONFIRMED, judged, code, reason, memory_id, replaced)

    def _create(self, judged: Judged, weighed: Weighed | None) -> Outcome:
        memory = self._memory(judged, self._to_replace(judged.proposal, weighed))
        self._known[memory.id] = Known(memory, judged.proposal.turn.text, judged.check)
        self._step(MemoryAction.CREATED, memory, None, judged.proposal.reason)
        replaced = self._supersede(judged, weighed, memory.id)
        disputed = tuple(i for i in _ids(weighed, Relation.CONFLICTS) if i not in replaced)
        for other in disputed:
            reason = weighed.outcome.reason if weighed else ""
            confidence = round(judged.check.scores.faithfulness, 6)
            self.plan.disputes.append(Dispute(other, memory.id, reason, confidence))
        status = Status.SUPERSEDED if replaced else Status.CREATED
        code = weighed.outcome.reason_code if weighed else judged.check.reason_code.value
        reason = weighed.outcome.reason if weighed else judged.check.reason
        return Outcome(status, judged, code, reason, memory.id, replaced, hotspots=disputed)

    def _to_replace(self, proposal: Proposal, weighed: Weighed | None) -> tuple[str, ...]:
        named = (proposal.replaces,) if proposal.replaces else ()
        return tuple(dict.fromkeys([*named, *_retired(weighed)]))

    def _supersede(self, judged: Judged, weighed: Weighed | None, by: str) -> tuple[str, ...]:
        proposal = judged.proposal
        until = proposal.valid_from or proposal.turn.observed_at
        replaced = tuple(i for i in self._to_replace(proposal, weighed) if i != by)
        for memory_id in replaced:
            before = self._known[memory_id].memory
            reason = proposal.reason or (weighed.outcome.reason if weighed else "replaced")
            after = memory_state.superseded(before, by=by, reason=reason, at=self._now, until=until)
            self._step(MemoryAction.SUPERSEDED, after, before, reason, by)
        return replaced

    def _step(
        self,
        action: MemoryAction,
        after: Memory,
        before: Memory | None,
        reason: str | None,
        other: str | None = None,
    ) -> None:
        self._known[after.id] = replace(self._known[after.id], memory=after)
        self.plan.steps.append(Step(action, after, before, reason, other))

    def _memory(self, judged: Judged, replaces: tuple[str, ...]) -> Memory:
        proposal, observed = judged.proposal, judged.proposal.turn.observed_at
        for memory_id in replaces:
            if memory_id not in self._known:
                raise Conflict("The memory to replace changed meanwhile; try again.")
        return Memory(
            id=self._identifiers.new("mem"),
            owner=self._owner,
            text=proposal.text,
            type=proposal.type,
            triple=proposal.triple,
            importance=proposal.importance,
            status=MemoryStatus.ACTIVE,
            origin=proposal.origin,
            observed_at=observed,
            recorded_at=self._now,
            updated_at=self._now,
            verdict=judged.check.verdict.value,
            decision_id=judged.decision_id,
            policy_fingerprint=self._policy.fingerprint,
            content_hash="",
            state_hash="",
            valid_from=proposal.valid_from or (observed if replaces else None),
            valid_to=proposal.valid_to,
            expires_at=proposal.expires_at,
            supersedes=replaces,
            evidence=proposal.evidence,
            authority=proposal.authority,
            metadata=proposal.metadata,
        )


def _ids(weighed: Weighed | None, *relations: Relation) -> tuple[str, ...]:
    pairs = weighed.pairs if weighed is not None else []
    return tuple(p.id for p, _, finding in pairs if p.id and finding.relation in relations)


def _retired(weighed: Weighed | None) -> tuple[str, ...]:
    """Return the memories that the adjudication retires."""
    pairs = weighed.pairs if weighed is not None else []
    return tuple(
        p.id
        for p, _, finding in pairs
        if p.id and finding.relation is Relation.SUPERSEDES and not finding.stays_active
    )

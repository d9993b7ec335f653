"""Doing what was planned, within one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from service.domain.digests import review_digest
from service.domain.memory import Conflict, ConflictStatus, Memory, MemoryAction, Review, Turn
from service.domain.memory import ReviewStatus as Standing
from service.domain.policy import Policy
from service.domain.verdicts import ReasonCode
from service.ports.identifiers import Identifiers
from service.ports.index import Vector
from service.ports.storage import Appended, EntryDraft, Transaction
from service.usecases.decisions import (
    Committed,
    Decision,
    check_texts,
    committed,
    measured,
    record_committed,
)
from service.usecases.drift import Seen, as_written, finding, seen_memory
from service.usecases.journal import Journal
from service.usecases.plan import Dispute, Outcome, Plan
from service.usecases.proposals import Intake, Status, to_json
from service.usecases.weighing import weighing_decision

_ENDING = frozenset({MemoryAction.SUPERSEDED, MemoryAction.RETRACTED, MemoryAction.DELETED})


@dataclass(frozen=True, slots=True)
class Done:
    """One outcome as it was written: the memory as stored, and where the decisions are logged."""

    outcome: Outcome
    memory: Seen | None = None
    check_entry: Appended | None = None
    weighing_entry: Appended | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What the gate, and perhaps the adjudication, decided about one proposal."""

    check: Committed
    weighing: Committed | None = None


@dataclass(frozen=True, slots=True)
class Committing:
    """What one commit needs beside the transaction.

    ``vectors`` are the embeddings of the new memories by id, ``decided`` the decisions of the
    plan's outcomes in their order, both made before the transaction began.
    """

    policy: Policy
    models: Mapping[str, str]
    identifiers: Identifiers
    now: datetime
    decided: Sequence[Decided]
    vectors: Mapping[str, Vector] = field(default_factory=dict)


def decide(plan: Plan, policy: Policy, models: Mapping[str, str]) -> tuple[Decided, ...]:
    """Return the decisions of a plan's outcomes, ready to be recorded."""
    return tuple(_decided(outcome, policy, models) for outcome in plan.outcomes)


def _decided(outcome: Outcome, policy: Policy, models: Mapping[str, str]) -> Decided:
    check = committed(_check_decision(outcome, policy, models))
    if outcome.weighed is None or outcome.weighing_id is None:
        return Decided(check)
    memory = _memories(outcome)
    weighing = weighing_decision(outcome.weighing_id, outcome.weighed, policy, models, memory)
    return Decided(check, committed(weighing))


def commit(
    tx: Transaction, subject_id: str, intake: Intake, plan: Plan, given: Committing
) -> list[Done]:
    """Write turns, memories, conflicts, reviews and decisions, with their entries."""
    for turn in intake.fresh:
        tx.turns.add(replace(turn, owner=replace(turn.owner, subject_id=subject_id)))
    journal = Journal(tx, subject_id, given.now)
    written: dict[str, Memory] = {}
    for step in plan.steps:
        memory = written[step.after.id] = journal.write(step)
        if step.before is None and memory.id in given.vectors:
            vector, digest = given.vectors[memory.id], given.models["embedder"]
            tx.embeddings.add(memory.id, subject_id, digest, vector)
        if step.action in _ENDING:
            journal.settle(step.after.id, "one of the two is no longer active")
    for dispute in plan.disputes:
        _dispute(tx, journal, subject_id, dispute, given)
    done = [
        _record(tx, subject_id, outcome, decided, given)
        for outcome, decided in zip(plan.outcomes, given.decided, strict=True)
    ]
    fresh = {turn.id: turn for turn in intake.fresh}
    return [_with_memory(tx, journal, subject_id, one, fresh) for one in done]


def _dispute(
    tx: Transaction, journal: Journal, subject_id: str, dispute: Dispute, given: Committing
) -> None:
    found = {m.id: m for m in tx.memories.many(subject_id, [dispute.first, dispute.second])}
    conflict = Conflict(
        id=given.identifiers.new("con"),
        subject_id=subject_id,
        first=dispute.first,
        second=dispute.second,
        reason=dispute.reason,
        confidence=dispute.confidence,
        status=ConflictStatus.OPEN,
        marked_at=given.now,
        marked_by=tx.scope.actor,
    )
    journal.mark(conflict, found[dispute.first], found[dispute.second])


def _record(
    tx: Transaction, subject_id: str, outcome: Outcome, decided: Decided, given: Committing
) -> Done:
    entry, _ = record_committed(tx, subject_id, decided.check, given.now)
    weighed = None
    if decided.weighing is not None:
        weighed, _ = record_committed(tx, subject_id, decided.weighing, given.now)
    if outcome.status is Status.REVIEW:
        _open_review(tx, subject_id, outcome, given)
    return Done(outcome, None, entry, weighed)


def _check_decision(outcome: Outcome, policy: Policy, models: Mapping[str, str]) -> Decision:
    """Return the gate's decision as it is recorded; of a secret no text is kept."""
    judged = outcome.judged
    secret = judged.check.reason_code is ReasonCode.SECRET
    return Decision(
        id=judged.decision_id,
        kind="check",
        verdict=judged.check.verdict.value,
        reason_code=judged.check.reason_code.value,
        scores=measured(judged.check.scores),
        policy=policy,
        models=models,
        texts={} if secret else check_texts(judged.proposal.question, judged.check),
        memory=_memories(outcome),
    )


def _memories(outcome: Outcome) -> tuple[str, ...]:
    own = (outcome.memory_id,) if outcome.memory_id else ()
    return tuple(dict.fromkeys([*own, *outcome.superseded_ids, *outcome.retracted_ids]))


def _open_review(tx: Transaction, subject_id: str, outcome: Outcome, given: Committing) -> None:
    judged = outcome.judged
    review = Review(
        id=outcome.review_id or given.identifiers.new("rev"),
        subject_id=subject_id,
        status=Standing.OPEN,
        text=judged.proposal.text,
        reason_code=outcome.reason_code,
        reason=outcome.reason,
        candidate=to_json(judged.proposal),
        decision_id=judged.decision_id,
        opened_at=given.now,
    )
    tx.reviews.add(review)
    tx.audit.append(
        EntryDraft(
            kind="review.opened",
            actor=tx.scope.actor,
            subject=subject_id,
            memory=(review.id,),
            state_after=review_digest(review),
            policy=given.policy.fingerprint,
        ),
        {},
    )


def _with_memory(
    tx: Transaction, journal: Journal, subject_id: str, done: Done, fresh: Mapping[str, Turn]
) -> Done:
    memory_id = done.outcome.memory_id
    if memory_id is None:
        return done
    written, memory = journal.written(memory_id), journal.new(memory_id)
    if memory is None or memory != written:
        memory = tx.memories.get(subject_id, memory_id)
    if memory is None:
        return done
    if written is None:
        return replace(done, memory=seen_memory(tx, memory))
    if memory == written:
        turn_id = memory.origin.turn_id
        turn = (fresh.get(turn_id) or tx.turns.get(turn_id)) if turn_id else None
        return replace(done, memory=Seen(memory, as_written(turn, memory)))
    return replace(done, memory=Seen(memory, finding(tx, memory, written.state_hash).status))

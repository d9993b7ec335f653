"""Doing what was planned, within one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from service.domain.digests import review_digest
from service.domain.memory import Conflict, ConflictStatus, Memory, MemoryAction, Review
from service.domain.memory import ReviewStatus as Standing
from service.domain.policy import Policy
from service.domain.verdicts import ReasonCode
from service.ports.identifiers import Identifiers
from service.ports.index import Vector
from service.ports.storage import Appended, EntryDraft, Transaction
from service.usecases.decisions import Decision, check_texts, measured, record
from service.usecases.drift import Seen, finding, seen_memory
from service.usecases.journal import Journal
from service.usecases.plan import Dispute, Outcome, Plan
from service.usecases.proposals import Intake, Status, to_json
from service.usecases.reconcile import store_embedding
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
class Committing:
    """What one commit needs beside the transaction.

    ``vectors`` are the embeddings of the new memories by id, made before the transaction began.
    """

    policy: Policy
    models: Mapping[str, str]
    identifiers: Identifiers
    now: datetime
    vectors: Mapping[str, Vector] = field(default_factory=dict)


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
        if memory.id in given.vectors:
            store_embedding(tx, memory, given.vectors[memory.id], given.models["embedder"])
        if step.action in _ENDING:
            journal.settle(step.after.id, "one of the two is no longer active")
    for dispute in plan.disputes:
        _dispute(tx, journal, subject_id, dispute, given)
    done = [_record(tx, subject_id, outcome, given) for outcome in plan.outcomes]
    return [_with_memory(tx, journal, subject_id, one) for one in done]


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


def _record(tx: Transaction, subject_id: str, outcome: Outcome, given: Committing) -> Done:
    entry, _ = record(tx, subject_id, _check_decision(outcome, given), given.now)
    weighed = None
    if outcome.weighed is not None and outcome.weighing_id is not None:
        decision = weighing_decision(
            outcome.weighing_id, outcome.weighed, given.policy, given.models, _memories(outcome)
        )
        weighed, _ = record(tx, subject_id, decision, given.now)
    if outcome.status is Status.REVIEW:
        _open_review(tx, subject_id, outcome, given)
    return Done(outcome, None, entry, weighed)


def _check_decision(outcome: Outcome, given: Committing) -> Decision:
    """Return the gate's decision as it is recorded; of a secret no text is kept."""
    judged = outcome.judged
    secret = judged.check.reason_code is ReasonCode.SECRET
    return Decision(
        id=judged.decision_id,
        kind="check",
        verdict=judged.check.verdict.value,
        reason_code=judged.check.reason_code.value,
        scores=measured(judged.check.scores),
        policy=given.policy,
        models=given.models,
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


def _with_memory(tx: Transaction, journal: Journal, subject_id: str, done: Done) -> Done:
    memory_id = done.outcome.memory_id
    memory = tx.memories.get(subject_id, memory_id) if memory_id else None
    if memory is None:
        return done
    logged = journal.logged_state(memory.id)
    if logged is None:
        return replace(done, memory=seen_memory(tx, memory))
    return replace(done, memory=Seen(memory, finding(tx, memory, logged).status))

"""Decisions of the memory as business rows and entries of the log, texts beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from service.audit.canonical import JsonValue
from service.audit.commitment import commit, new_salt
from service.domain.canonical import canonical_json
from service.domain.check import CheckInput, CheckOutcome, Scores, SignalValue
from service.domain.errors import InvalidInput
from service.domain.policy import Policy
from service.ports.storage import Appended, Body, DecisionRecord, EntryDraft, Transaction

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, ready to be recorded.

    ``texts`` are the bodies by name; empty where no text may be kept.
    """

    id: str
    kind: str
    verdict: str
    reason_code: str
    scores: Mapping[str, float]
    policy: Policy
    models: Mapping[str, str]
    texts: Mapping[str, str]
    memory: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """A decision bound to its texts by salted commitments; needs no transaction."""

    decision: Decision
    bodies: Mapping[str, Body]
    commitments: Mapping[str, str]


def committed(decision: Decision) -> Committed:
    """Return a decision with fresh salts for its texts; raises ``InvalidInput`` for no text."""
    bodies = {name: Body(new_salt(), text) for name, text in decision.texts.items()}
    try:
        bound = {name: commit(b.salt, b.text.encode()) for name, b in bodies.items()}
    except UnicodeEncodeError as error:
        raise InvalidInput("text", "holds a lone surrogate, which is not text") from error
    return Committed(decision, bodies, bound)


def record(
    tx: Transaction, subject: str | None, decision: Decision, at: datetime
) -> tuple[Appended, dict[str, str]]:
    """Write a decision and its entry; return where it is, and the salts if no text is kept."""
    return record_committed(tx, subject, committed(decision), at)


def record_committed(
    tx: Transaction, subject: str | None, given: Committed, at: datetime
) -> tuple[Appended, dict[str, str]]:
    """Write what ``record`` writes, of a decision whose texts were bound before."""
    decision, bodies = given.decision, given.bodies
    tx.decisions.add(
        DecisionRecord(
            id=decision.id,
            kind=decision.kind,
            subject_id=subject,
            seq=tx.audit.next_seq(),
            verdict=decision.verdict,
            reason_code=decision.reason_code,
            policy_fingerprint=decision.policy.fingerprint,
            recorded_at=at,
        )
    )
    draft = EntryDraft(
        kind=f"{decision.kind}.decided",
        actor=tx.scope.actor,
        subject=subject,
        decision={
            "id": decision.id,
            "verdict": decision.verdict,
            "reason_code": decision.reason_code,
            "scores_e6": {name: round(v * _MILLION) for name, v in decision.scores.items()},
        },
        memory=decision.memory,
        policy=decision.policy.fingerprint,
        models=dict(decision.models),
        commitments=given.commitments,
    )
    appended = tx.audit.append(draft, bodies if subject else {})
    return appended, {} if subject else {name: b.salt.hex() for name, b in bodies.items()}


def measured(scores: Scores) -> dict[str, float]:
    """Return the scores that there are, by name."""
    found = {name: getattr(scores, name) for name in Scores.__dataclass_fields__}
    return {name: value for name, value in found.items() if value is not None}


def check_texts(asked: CheckInput, outcome: CheckOutcome) -> dict[str, str]:
    """Return the texts that the entry of a check commits to."""
    evidence = outcome.evidence
    return {
        "fact": asked.fact,
        "source": asked.source,
        "evidence": evidence.text if evidence else "",
        "result": canonical_json(check_result(asked, outcome)).decode(),
    }


def check_result(asked: CheckInput, outcome: CheckOutcome) -> dict[str, JsonValue]:
    """Return what was asked and found beside the texts."""
    evidence = outcome.evidence
    return {
        "reason": outcome.reason,
        "evidence": {"start": evidence.start, "end": evidence.end} if evidence else None,
        "signals": exact(dict(outcome.signals)),
        "speaker": asked.speaker.value,
        "speaker_name": asked.speaker_name,
        "observed_at": asked.observed_at.isoformat() if asked.observed_at else None,
    }


def exact(value: SignalValue) -> JsonValue:
    """Return a value with floats as decimal strings: nothing that is hashed holds a float."""
    if isinstance(value, float):
        return f"{value:.6f}"
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {k: exact(v) for k, v in value.items()}
    return [exact(v) for v in value]

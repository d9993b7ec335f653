"""Check facts against their sources, and record what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.audit.canonical import JsonValue
from service.audit.commitment import commit, new_salt
from service.domain.canonical import canonical_json
from service.domain.check import CheckInput, CheckOutcome, SignalValue
from service.domain.policy import Policy
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import (
    Appended,
    Body,
    Database,
    DecisionRecord,
    EntryDraft,
    Scope,
    StoredAnswer,
    Transaction,
)
from service.usecases.erasure.guard import is_stale
from service.usecases.gate import Gate
from service.usecases.once import Once, earlier_answer, write_once
from service.usecases.policies import find_policy

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class CheckCommand:
    """One fact to check.

    Attributes:
        input: the fact and its source.
        user_id: whose fact it is; without it no text is kept.
        policy: a fingerprint, a name, or ``name@version``; the tenant's default without it.
        record: whether the decision goes into the log.
    """

    input: CheckInput
    user_id: str | None = None
    policy: str | None = None
    record: bool = True


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """A decision as it was taken and, where recorded, where it is in the log.

    ``salts`` are the hex salts of the entry's commitments, handed out only when no text is kept:
    whoever holds the texts can still prove them against the log.
    """

    decision_id: str
    outcome: CheckOutcome
    policy: Policy
    models: Mapping[str, str]
    audit: Appended | None
    salts: Mapping[str, str] | None = None


class CheckFacts:
    """The use case behind ``POST /check`` and ``POST /check/batch``."""

    def __init__(
        self, *, gate: Gate, database: Database, clock: Clock, identifiers: Identifiers
    ) -> None:
        self._gate = gate
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def run(
        self,
        scope: Scope,
        commands: Sequence[CheckCommand],
        once: Once[list[CheckAnswer]] | None = None,
    ) -> list[CheckAnswer] | StoredAnswer:
        """Return one answer per command, in order; all are recorded in one transaction.

        Raises:
            NotFound: an unknown policy.
            Overloaded, Unavailable: a model or the database cannot serve; nothing was recorded.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored
        policies = self._policies(scope, commands)
        outcomes = self._gate.judge([(c.input, p) for c, p in zip(commands, policies, strict=True)])
        decided = [
            CheckAnswer(self._identifiers.new("chk"), outcome, policy, self._gate.models(), None)
            for outcome, policy in zip(outcomes, policies, strict=True)
        ]
        if not any(c.record for c in commands):
            return decided

        def work(tx: Transaction) -> list[CheckAnswer]:
            return [
                self._record(tx, command, answer) if command.record else answer
                for command, answer in zip(commands, decided, strict=True)
            ]

        return write_once(self._database, scope, self._clock, once, work)

    def _policies(self, scope: Scope, commands: Sequence[CheckCommand]) -> list[Policy]:
        wanted = {c.policy for c in commands}
        found = self._database.read(scope, lambda tx: {w: find_policy(tx, w) for w in wanted})
        return [found[c.policy] for c in commands]

    def _record(self, tx: Transaction, command: CheckCommand, answer: CheckAnswer) -> CheckAnswer:
        subject = _owner(tx, command)
        texts = _texts(command.input, answer.outcome)
        bodies = {name: Body(new_salt(), text) for name, text in texts.items()}
        tx.decisions.add(self._decision(tx, subject, answer))
        appended = tx.audit.append(
            _draft(tx.scope, subject, answer, bodies), bodies if subject else {}
        )
        salts = None if subject else {name: body.salt.hex() for name, body in bodies.items()}
        return CheckAnswer(
            answer.decision_id, answer.outcome, answer.policy, answer.models, appended, salts
        )

    def _decision(
        self, tx: Transaction, subject: str | None, answer: CheckAnswer
    ) -> DecisionRecord:
        return DecisionRecord(
            id=answer.decision_id,
            kind="check",
            subject_id=subject,
            seq=tx.audit.next_seq(),
            verdict=answer.outcome.verdict.value,
            reason_code=answer.outcome.reason_code.value,
            policy_fingerprint=answer.policy.fingerprint,
            recorded_at=self._clock.now(),
        )


def _owner(tx: Transaction, command: CheckCommand) -> str | None:
    """Return whose decision it is; nobody's if it would keep what was erased after it was said."""
    asked = command.input
    if command.user_id is None:
        return None
    said = [m.timestamp for m in asked.messages]
    said_at = asked.observed_at or max((t for t in said if t is not None), default=None)
    texts = (asked.fact, asked.source, *(m.content for m in asked.messages))
    if is_stale(tx, command.user_id, texts, said_at):
        return None
    return tx.subjects.id_for(command.user_id)


def _texts(asked: CheckInput, outcome: CheckOutcome) -> dict[str, str]:
    """Return the texts that the entry commits to, by name."""
    evidence = outcome.evidence
    return {
        "fact": asked.fact,
        "source": asked.source,
        "evidence": evidence.text if evidence else "",
        "result": canonical_json(_result(asked, outcome)).decode(),
    }


def _exact(value: SignalValue) -> JsonValue:
    """Return a value with floats as decimal strings: nothing that is hashed holds a float."""
    if isinstance(value, float):
        return f"{value:.6f}"
    if isinstance(value, list):
        return [_exact(v) for v in value]
    if isinstance(value, dict):
        return {k: _exact(v) for k, v in value.items()}
    return value


def _result(asked: CheckInput, outcome: CheckOutcome) -> dict[str, JsonValue]:
    """Return what was asked and found beside the texts themselves."""
    evidence = outcome.evidence
    return {
        "reason": outcome.reason,
        "evidence": {"start": evidence.start, "end": evidence.end} if evidence else None,
        "signals": _exact(dict(outcome.signals)),
        "speaker": asked.speaker.value,
        "speaker_name": asked.speaker_name,
        "observed_at": asked.observed_at.isoformat() if asked.observed_at else None,
        "roles": [m.role.value for m in asked.messages],
    }


def _draft(
    scope: Scope, subject: str | None, answer: CheckAnswer, bodies: Mapping[str, Body]
) -> EntryDraft:
    scores = answer.outcome.scores
    measured = {
        "entailment": scores.entailment,
        "neutral": scores.neutral,
        "contradiction": scores.contradiction,
        "faithfulness": scores.faithfulness,
        "relatedness": scores.relatedness,
        "toxicity": scores.toxicity,
    }
    return EntryDraft(
        kind="check.decided",
        actor=scope.actor,
        subject=subject,
        decision={
            "id": answer.decision_id,
            "verdict": answer.outcome.verdict.value,
            "reason_code": answer.outcome.reason_code.value,
            "scores_e6": {k: round(v * _MILLION) for k, v in measured.items() if v is not None},
        },
        policy=answer.policy.fingerprint,
        models=dict(answer.models),
        commitments={name: commit(b.salt, b.text.encode()) for name, b in bodies.items()},
    )

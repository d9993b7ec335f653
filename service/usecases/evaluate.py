"""Score an answer against its question and context, with the gate as the judge of faithfulness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from service.audit.commitment import commit, new_salt
from service.domain.canonical import canonical_json
from service.domain.check import CheckInput, CheckOutcome
from service.domain.guards.secrets import holds_secret
from service.domain.policy import Policy
from service.domain.verdicts import Verdict
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.models import Embedder
from service.ports.storage import (
    Appended,
    Body,
    Database,
    EntryDraft,
    Scope,
    StoredAnswer,
    Transaction,
)
from service.usecases.decisions import check_texts, exact, measured
from service.usecases.gate import Gate
from service.usecases.once import Once, earlier_answer, write_once
from service.usecases.policies import find_policy

PASS_AT: Final = 0.6
"""The overall score, 0–1, from which on an answer passes (as in MiniEval 1.2.1)."""

NO_TOXICITY: Final = "Toxicity was not measured: no model for it is packaged."
_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each score counts, 0–1 each and 1 in all; ``safety`` is 1 minus toxicity.

    What was not measured is left out, and the others count in proportion.
    """

    faithfulness: float = 0.5
    relevance: float = 0.3
    safety: float = 0.2


@dataclass(frozen=True, slots=True)
class EvaluateCommand:
    """An answer to score; ``policy`` and ``user_id`` are as for a check."""

    question: str
    context: str
    answer: str
    weights: Weights = Weights()
    user_id: str | None = None
    policy: str | None = None
    record: bool = True


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The scores of an answer, 0–1 each; ``toxicity`` is ``None`` where it was not measured.

    ``salts`` are handed out where no text is kept, as for a check.
    """

    id: str
    outcome: CheckOutcome
    relevance: float
    toxicity: float | None
    overall: float
    passed: bool
    summary: str
    policy: Policy
    models: Mapping[str, str]
    audit: Appended | None = None
    salts: Mapping[str, str] | None = None


class Evaluate:
    """The use case behind ``POST /evaluate``."""

    def __init__(
        self,
        *,
        gate: Gate,
        embedder: Embedder,
        database: Database,
        clock: Clock,
        identifiers: Identifiers,
    ) -> None:
        self._gate = gate
        self._embedder = embedder
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def run(
        self, scope: Scope, command: EvaluateCommand, once: Once[Evaluation] | None = None
    ) -> Evaluation | StoredAnswer:
        """Return the scores and record them as ``evaluation.recorded``.

        Raises:
            NotFound: an unknown policy.
            Overloaded, Unavailable: a model or the database cannot serve; nothing was recorded.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored
        policy = self._database.read(scope, lambda tx: find_policy(tx, command.policy))
        asked = CheckInput(source=command.context, fact=command.answer)
        outcome = self._gate.judge([(asked, policy)])[0]
        scored = self._score(command, outcome, policy)
        if not command.record:
            return scored

        def work(tx: Transaction) -> Evaluation:
            return _record(tx, command, scored)

        return write_once(self._database, scope, self._clock, once, work)

    def _score(self, command: EvaluateCommand, outcome: CheckOutcome, policy: Policy) -> Evaluation:
        question, answer = self._embedder.embed([command.question, command.answer])
        relevance = round((float(question @ answer) + 1) / 2, 6)
        overall = weighted(command.weights, outcome.scores.faithfulness, relevance)
        passed = _passes(outcome, overall, policy)
        return Evaluation(
            id=self._identifiers.new("evl"),
            outcome=outcome,
            relevance=relevance,
            toxicity=None,
            overall=overall,
            passed=passed,
            summary=_summary(outcome, relevance, overall, passed=passed),
            policy=policy,
            models=self._gate.models(),
        )


def weighted(
    weights: Weights, faithfulness: float, relevance: float, toxicity: float | None = None
) -> float:
    """Return the weighted mean of what was measured, 0–1; 0 if none of it counts."""
    parts = [(weights.faithfulness, faithfulness), (weights.relevance, relevance)]
    if toxicity is not None:
        parts.append((weights.safety, 1 - toxicity))
    total = sum(weight for weight, _ in parts)
    return round(sum(w * score for w, score in parts) / total, 6) if total else 0.0


def _passes(outcome: CheckOutcome, overall: float, policy: Policy) -> bool:
    """Say whether an answer passes: a high score does not make up for one that is not faithful."""
    faithful = outcome.scores.faithfulness >= policy.store_threshold
    return overall >= PASS_AT and faithful and outcome.verdict is not Verdict.REJECT


def _summary(outcome: CheckOutcome, relevance: float, overall: float, *, passed: bool) -> str:
    result = "Passed" if passed else "Failed"
    return (
        f"{result} with {overall:.2f}. Faithfulness {outcome.scores.faithfulness:.2f}: "
        f"{outcome.reason} Relevance {relevance:.2f}. {NO_TOXICITY}"
    )


def _record(tx: Transaction, command: EvaluateCommand, scored: Evaluation) -> Evaluation:
    subject = tx.subjects.id_for(command.user_id) if command.user_id is not None else None
    bodies = {name: Body(new_salt(), text) for name, text in _texts(command, scored).items()}
    scores = {
        **measured(scored.outcome.scores),
        "relevance": scored.relevance,
        "overall": scored.overall,
    }
    draft = EntryDraft(
        kind="evaluation.recorded",
        actor=tx.scope.actor,
        subject=subject,
        decision={
            "id": scored.id,
            "verdict": "PASSED" if scored.passed else "FAILED",
            "reason_code": scored.outcome.reason_code.value,
            "scores_e6": {name: round(value * _MILLION) for name, value in scores.items()},
        },
        policy=scored.policy.fingerprint,
        models=dict(scored.models),
        commitments={name: commit(b.salt, b.text.encode()) for name, b in bodies.items()},
    )
    appended = tx.audit.append(draft, bodies if subject is not None else {})
    salts = None if subject is not None else {n: b.salt.hex() for n, b in bodies.items()}
    return replace(scored, audit=appended, salts=salts)


def _texts(command: EvaluateCommand, scored: Evaluation) -> dict[str, str]:
    """Return the texts to commit to; of a credential none is kept."""
    asked = CheckInput(source=command.context, fact=command.answer)
    weights = command.weights
    if any(holds_secret(t) for t in (command.question, command.context, command.answer)):
        return {}
    result = {
        "question": command.question,
        "reason": scored.outcome.reason,
        "summary": scored.summary,
        "weights": exact(
            {
                "faithfulness": weights.faithfulness,
                "relevance": weights.relevance,
                "safety": weights.safety,
            }
        ),
    }
    return {
        **check_texts(asked, scored.outcome),
        "result": canonical_json(result).decode(),
    }

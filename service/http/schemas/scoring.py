"""``POST /evaluate`` and ``POST /hook``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StrictBool, model_validator

from service.domain.verdicts import ReasonCode, Speaker, Verdict
from service.http.schemas.check import (
    AuditRef,
    CheckRequest,
    CheckResponse,
    EvidenceOut,
    ModelsOut,
    PolicyRef,
    audit_ref,
)
from service.http.schemas.common import AnswerModel, Moment, Name, RequestModel, Text
from service.usecases.evaluate import NO_TOXICITY, Evaluation, Weights

_SLACK = 0.01
Share = Annotated[float, Field(ge=0, le=1)]

EVALUATE_EXAMPLE: dict[str, Any] = {
    "question": "What is the refund policy?",
    "context": "Refunds are available within 30 days of purchase.",
    "answer": "Refunds are available within 90 days of purchase.",
}
HOOK_EXAMPLE: dict[str, Any] = {
    "candidate": "The user lives in Lisbon.",
    "source_text": "I moved to Lisbon in March and I love it here.",
    "metadata": {"user_id": "ana"},
}


class WeightsIn(RequestModel):
    """How much each score counts; they add up to 1. What is not measured is left out."""

    faithfulness: Share = 0.5
    relevance: Share = 0.3
    safety: Share = 0.2

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if abs(self.faithfulness + self.relevance + self.safety - 1) > _SLACK:
            raise ValueError("must add up to 1")
        if self.faithfulness + self.relevance == 0:
            raise ValueError("must leave a weight to faithfulness or relevance: no toxicity here")
        return self

    def weights(self) -> Weights:
        """Return them for the use case."""
        return Weights(self.faithfulness, self.relevance, self.safety)


class EvaluateRequest(RequestModel):
    """An answer with the question and the context it was given for."""

    question: Text
    context: Text = Field(description="What the answer should be faithful to.")
    answer: Text
    weights: WeightsIn = Field(default_factory=WeightsIn)
    user_id: Name | None = Field(None, description="Whose texts they are; without it none is kept.")
    policy: Name | None = Field(None, description="As for `/check`.")
    record: StrictBool = Field(True, description="Whether it goes into the log.")


class EvaluateResponse(AnswerModel):
    """Scores from 0 to 1; an answer that is not faithful never passes."""

    faithfulness: float
    relevance: float
    toxicity: float | None = Field(description="Null where it was not measured; see `notes`.")
    overall: float
    passed: bool
    summary: str
    notes: list[str]
    verdict: Verdict = Field(description="What the gate says of the answer, as a fact.")
    reason_code: ReasonCode
    evidence: EvidenceOut | None
    policy: PolicyRef
    models: ModelsOut
    audit: AuditRef | None
    evaluation_id: str


class HookMetadata(RequestModel):
    """What a memory engine knows beside the texts; other keys are taken and not used."""

    model_config = ConfigDict(extra="allow")

    user_id: Name | None = None
    speaker: Speaker = Speaker.USER
    speaker_name: Name | None = None
    observed_at: Moment | None = None
    policy: Name | None = None
    record: StrictBool = True


class HookRequest(RequestModel):
    """A memory that an engine is about to write, and what it was made from."""

    candidate: Text
    source_text: Text
    metadata: HookMetadata = Field(default_factory=HookMetadata)

    def check(self) -> CheckRequest:
        """Return the check that decides."""
        given = self.metadata
        return CheckRequest(
            source=self.source_text,
            messages=None,
            fact=self.candidate,
            speaker=given.speaker,
            speaker_name=given.speaker_name,
            observed_at=given.observed_at,
            user_id=given.user_id,
            policy=given.policy,
            record=given.record,
        )


class HookResponse(AnswerModel):
    """`accepted` may be written, `rejected` may not, `uncertain` is for a person."""

    verdict: Literal["accepted", "rejected", "uncertain"]
    reason: str
    decision: CheckResponse


_HOOK: dict[Verdict, Literal["accepted", "rejected", "uncertain"]] = {
    Verdict.STORE: "accepted",
    Verdict.REJECT: "rejected",
    Verdict.REVIEW: "uncertain",
}


def hook_out(decision: CheckResponse) -> HookResponse:
    """Return a decision as a hook answers."""
    return HookResponse(verdict=_HOOK[decision.verdict], reason=decision.reason, decision=decision)


def evaluate_out(found: Evaluation) -> EvaluateResponse:
    """Return an evaluation as it is shown."""
    outcome, policy, evidence = found.outcome, found.policy, found.outcome.evidence
    return EvaluateResponse(
        faithfulness=outcome.scores.faithfulness,
        relevance=found.relevance,
        toxicity=found.toxicity,
        overall=found.overall,
        passed=found.passed,
        summary=found.summary,
        notes=[NO_TOXICITY] if found.toxicity is None else [],
        verdict=outcome.verdict,
        reason_code=outcome.reason_code,
        evidence=evidence
        and EvidenceOut(
            text=evidence.text,
            start=evidence.start,
            end=evidence.end,
            sentence=evidence.sentence,
        ),
        policy=PolicyRef(name=policy.name, version=policy.version, fingerprint=policy.fingerprint),
        models=ModelsOut(nli=found.models["nli"], embedder=found.models["embedder"]),
        audit=audit_ref(found.audit, found.salts),
        evaluation_id=found.id,
    )

"""``POST /adjudicate``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictBool

from service.domain.adjudication import AdjudicationVerdict, Relation
from service.domain.check import CheckOutcome
from service.domain.policy import Policy
from service.domain.verdicts import ReasonCode, Speaker, Verdict
from service.http.schemas.check import (
    AuditRef,
    EvidenceOut,
    ModelsOut,
    PolicyRef,
    ScoresOut,
    audit_ref,
)
from service.http.schemas.common import AnswerModel, Moment, Name, RequestModel, Text
from service.ports.storage import Appended
from service.usecases.adjudicate import Party
from service.usecases.weigh_facts import WeighAnswer
from service.usecases.weighing import Weighed

EXAMPLE: dict[str, Any] = {
    "existing": [
        {
            "fact": "The user lives in Porto.",
            "source": "I live in Porto.",
            "observed_at": "2026-01-05",
        }
    ],
    "incoming": {
        "fact": "The user lives in Lisbon.",
        "source": "I moved to Lisbon last week.",
        "observed_at": "2026-11-29",
    },
    "record": False,
}


class PartyIn(RequestModel):
    """One side: a fact and the text that should justify it."""

    id: Name | None = None
    fact: Text
    source: Text
    speaker: Speaker = Speaker.USER
    speaker_name: Name | None = None
    observed_at: Moment | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    authority: Name | None = Field(None, description="One of the policy's `authority_order`.")


class AdjudicateRequest(RequestModel):
    """An incoming memory against `existing` ones, inline or stored."""

    existing: list[PartyIn] = Field(default_factory=list)
    existing_ids: Annotated[list[Name], Field(min_length=1)] | None = Field(
        None, description="Stored memories of `user_id`."
    )
    incoming: PartyIn
    user_id: Name | None = Field(None, description="Without it no text is kept.")
    policy: Name | None = None
    record: StrictBool = Field(True, description="Whether the decision goes into the log.")


class CheckOut(AnswerModel):
    """What the gate says about one side."""

    verdict: Verdict
    reason_code: ReasonCode
    reason: str
    evidence: EvidenceOut | None
    scores: ScoresOut
    signals: dict[str, Any]


class PartyOut(AnswerModel):
    """One side as it was weighed."""

    id: str | None
    fact: str
    source: str
    speaker: Speaker
    observed_at: Moment | None
    valid_from: Moment | None
    valid_to: Moment | None
    authority: str | None


class IncomingOut(CheckOut):
    """The incoming side."""

    statement: PartyOut


class ExistingOut(AnswerModel):
    """What follows for one existing memory."""

    id: str | None
    index: int
    check: CheckOut
    relation: Relation
    stays_active: bool
    reason_code: str
    reason: str
    statement: PartyOut


class WeighedOut(AnswerModel):
    """What was decided about the incoming memory and each existing one."""

    verdict: AdjudicationVerdict
    reason_code: str
    reason: str
    incoming: IncomingOut
    existing: list[ExistingOut]
    signals: dict[str, Any]
    audit: AuditRef | None


class AdjudicateResponse(WeighedOut):
    """An adjudication and everything it rests on."""

    policy: PolicyRef
    models: ModelsOut
    decision_id: str


def policy_ref(policy: Policy) -> PolicyRef:
    """Return which rules applied."""
    return PolicyRef(name=policy.name, version=policy.version, fingerprint=policy.fingerprint)


def weighed_out(weighed: Weighed, entry: Appended | None) -> WeighedOut:
    """Return an adjudication as it is shown."""
    return WeighedOut(**_weighed(weighed), audit=audit_ref(entry, None))


def adjudicate_out(answer: WeighAnswer) -> AdjudicateResponse:
    """Return the answer to ``POST /adjudicate``."""
    return AdjudicateResponse(
        **_weighed(answer.weighed),
        audit=audit_ref(answer.audit, answer.salts),
        policy=policy_ref(answer.policy),
        models=ModelsOut(nli=answer.models["nli"], embedder=answer.models["embedder"]),
        decision_id=answer.decision_id,
    )


def _weighed(weighed: Weighed) -> dict[str, Any]:
    outcome = weighed.outcome
    incoming = {"statement": _party(weighed.incoming), **_check(weighed.incoming_check)}
    return {
        "verdict": outcome.verdict,
        "reason_code": outcome.reason_code,
        "reason": outcome.reason,
        "signals": dict(outcome.signals),
        "incoming": IncomingOut(**incoming),
        "existing": [
            ExistingOut(
                id=party.id,
                index=index,
                check=CheckOut(**_check(check)),
                relation=finding.relation,
                stays_active=finding.stays_active,
                reason_code=finding.reason_code,
                reason=finding.reason,
                statement=_party(party),
            )
            for index, (party, check, finding) in enumerate(weighed.pairs)
        ],
    }


def _check(outcome: CheckOutcome) -> dict[str, Any]:
    evidence = outcome.evidence
    return {
        "verdict": outcome.verdict,
        "reason_code": outcome.reason_code,
        "reason": outcome.reason,
        "evidence": evidence and EvidenceOut.model_validate(evidence, from_attributes=True),
        "scores": ScoresOut.model_validate(outcome.scores, from_attributes=True),
        "signals": dict(outcome.signals),
    }


def _party(party: Party) -> PartyOut:
    asked = party.input
    return PartyOut(
        id=party.id,
        fact=asked.fact,
        source=asked.source,
        speaker=asked.speaker,
        observed_at=asked.observed_at,
        valid_from=party.valid_from,
        valid_to=party.valid_to,
        authority=party.authority,
    )

"""From a request to the domain, and back."""

from __future__ import annotations

from service.domain.check import CheckInput, CheckOutcome, Evidence, Message
from service.domain.errors import InvalidInput, TooLarge
from service.http.schemas.check import (
    BatchRequest,
    CheckRequest,
    CheckResponse,
    EvidenceOut,
    ModelsOut,
    PolicyRef,
    ScoresOut,
    audit_ref,
)
from service.http.services import HttpLimits
from service.usecases.check import CheckAnswer, CheckCommand


def to_batch(body: BatchRequest, limits: HttpLimits) -> list[CheckCommand]:
    """Return the commands of a batch; raises ``InvalidInput`` naming the item."""
    within("items", len(body.items), limits.batch, "items")
    return [to_command(item, limits, f"items.{n}.") for n, item in enumerate(body.items)]


def to_command(body: CheckRequest, limits: HttpLimits, where: str = "") -> CheckCommand:
    """Return the command for a request; raises ``InvalidInput`` naming the field."""
    if (body.source is None) == (body.messages is None):
        raise InvalidInput(f"{where}source", "give either source or messages")
    messages = body.messages or []
    within(f"{where}messages", len(messages), limits.messages, "messages")
    source = body.source if body.source is not None else "\n".join(m.content for m in messages)
    field = "source" if body.source is not None else "messages"
    within(f"{where}{field}", len(source), limits.source, "characters")
    within(f"{where}fact", len(body.fact), limits.fact, "characters")
    asked = CheckInput(
        source=source,
        fact=body.fact,
        speaker=body.speaker,
        speaker_name=body.speaker_name,
        observed_at=body.observed_at,
        messages=tuple(Message(m.role, m.content, m.timestamp) for m in messages),
    )
    return CheckCommand(asked, body.user_id, body.policy, body.record)


def to_response(command: CheckCommand, answer: CheckAnswer) -> CheckResponse:
    """Return the answer to one check."""
    outcome, policy = answer.outcome, answer.policy
    return CheckResponse(
        verdict=outcome.verdict,
        reason_code=outcome.reason_code,
        reason=outcome.reason,
        evidence=_evidence(outcome.evidence),
        scores=_scores(outcome),
        signals=dict(outcome.signals),
        policy=PolicyRef(name=policy.name, version=policy.version, fingerprint=policy.fingerprint),
        models=ModelsOut(nli=answer.models["nli"], embedder=answer.models["embedder"]),
        audit=audit_ref(answer.audit, answer.salts),
        decision_id=answer.decision_id,
        source=_counted_source(command.input),
    )


def _counted_source(asked: CheckInput) -> str | None:
    """Return the text that offsets count in, where it may differ from what was sent.

    Turns are joined, and text is brought to NFC, in which "é" is one code point.
    """
    return asked.source if asked.messages or not asked.source.isascii() else None


def _evidence(found: Evidence | None) -> EvidenceOut | None:
    if found is None:
        return None
    return EvidenceOut(text=found.text, start=found.start, end=found.end, sentence=found.sentence)


def _scores(outcome: CheckOutcome) -> ScoresOut:
    scores = outcome.scores
    return ScoresOut(
        entailment=scores.entailment,
        neutral=scores.neutral,
        contradiction=scores.contradiction,
        faithfulness=scores.faithfulness,
        relatedness=scores.relatedness,
        toxicity=scores.toxicity,
    )


def within(field: str, size: int, limit: int, unit: str) -> None:
    """Raise ``TooLarge`` if a field is over its limit."""
    if size > limit:
        raise TooLarge(field, f"has {size:,} {unit}, over the limit of {limit:,}")

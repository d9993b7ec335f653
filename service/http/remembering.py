"""``POST /memory`` and its like: from requests to commands, and from results to answers."""

from __future__ import annotations

from dataclasses import replace

from service.domain.attributes import attribute_name
from service.domain.check import Message
from service.domain.errors import InvalidInput
from service.domain.memory import Triple
from service.domain.verdicts import ReasonCode, Speaker
from service.domain.withheld import without_secrets
from service.http.schemas.adjudicate import weighed_out
from service.http.schemas.memory import memory_out
from service.http.schemas.remember import (
    FactIn,
    RememberRequest,
    RememberResponse,
    ResultOut,
    SkippedOut,
)
from service.http.services import HttpLimits
from service.http.translate import to_response, within
from service.usecases.check import CheckAnswer, CheckCommand
from service.usecases.commit import Done
from service.usecases.intake import Claimed
from service.usecases.memorize import Remembered
from service.usecases.proposals import WRITTEN, Status
from service.usecases.remember import RememberCommand

_SENTENCES = {
    Status.CREATED: "Remembered: {text}",
    Status.SUPERSEDED: "Remembered in place of what was known: {text}",
    Status.CONFIRMED: "Known already: {text}",
    Status.RETRACTED: "No longer held: {text}",
    Status.IGNORED: "Nothing was stored: {reason}",
    Status.REVIEW: "A person has to look at this first: {reason}",
    Status.REJECTED: "Not stored: {reason}",
    Status.BLOCKED: "Not stored; what is known outweighs it: {reason}",
}
_METADATA_LIMIT = 8_000


def to_remember(body: RememberRequest, limits: HttpLimits) -> RememberCommand:
    """Return the command for a request; raises ``InvalidInput`` naming the field."""
    if sum(x is not None for x in (body.message, body.messages, body.fact)) != 1:
        raise InvalidInput("message", "give exactly one of message, messages and fact")
    fact = to_claimed(body.fact, limits) if body.fact is not None else None
    return RememberCommand(
        user_id=body.user_id,
        messages=_messages(body, limits),
        fact=fact,
        agent_id=body.agent_id,
        session_id=body.session_id,
        observed_at=body.observed_at,
        policy=body.policy,
        dry_run=body.dry_run,
        speaker_name=body.speaker_name,
    )


def _messages(body: RememberRequest, limits: HttpLimits) -> tuple[Message, ...]:
    if body.message is not None:
        within("message", len(body.message), limits.source, "characters")
        return (Message(Speaker.USER, body.message, body.observed_at),)
    messages = body.messages or []
    within("messages", len(messages), limits.messages, "messages")
    within("messages", sum(len(m.content) for m in messages), limits.source, "characters")
    return tuple(Message(m.role, m.content, m.timestamp) for m in messages)


def to_claimed(fact: FactIn, limits: HttpLimits) -> Claimed:
    """Return a structured fact; raises ``InvalidInput`` naming the field."""
    parts = (fact.subject, fact.attribute, fact.value)
    triple = _triple(*parts)
    if triple is None and (fact.text is None or any(parts)):
        raise InvalidInput("fact", "give text, or all of subject, attribute and value")
    for name, limit in (("text", limits.fact), ("value", limits.fact), ("source", limits.source)):
        within(f"fact.{name}", len(getattr(fact, name) or ""), limit, "characters")
    within("fact.metadata", len(str(fact.metadata)), _METADATA_LIMIT, "characters")
    if fact.valid_from and fact.valid_to and fact.valid_to < fact.valid_from:
        raise InvalidInput("fact.valid_to", "must not be before valid_from")
    return Claimed(
        text=fact.text,
        triple=triple,
        source=fact.source,
        speaker=fact.speaker,
        evidence=fact.evidence,
        type=fact.type,
        importance=None if fact.importance is None else float(fact.importance),
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        expires_at=fact.expires_at,
        authority=fact.authority,
        metadata=fact.metadata,
    )


def _triple(subject: str | None, attribute: str | None, value: str | None) -> Triple | None:
    if subject is None or attribute is None or value is None:
        return None
    name = attribute_name(attribute)
    if not name:
        raise InvalidInput("fact.attribute", "must hold a letter or a digit")
    return Triple(subject, name, value)


def http_status(answer: Remembered) -> int:
    """Return 201 when something was written to memory, else 200."""
    written = any(d.outcome.status in WRITTEN for d in answer.results)
    return 201 if written and not answer.dry_run else 200


def remembered_out(answer: Remembered) -> RememberResponse:
    """Return what became of a request."""
    results = [_result(d, answer) for d in answer.results]
    skipped = [SkippedOut(text=s.text, reason=s.reason) for s in answer.skipped]
    first = results[0] if results else None
    return RememberResponse(
        status=first.status if first else Status.IGNORED,
        message=first.message if first else _nothing(skipped),
        memory=first.memory if first else None,
        superseded_id=first.superseded_id if first else None,
        superseded_ids=first.superseded_ids if first else [],
        review_id=first.review_id if first else None,
        hotspots=first.hotspots if first else [],
        reason_code=first.reason_code if first else _first_reason(skipped),
        results=results,
        skipped=skipped,
        turn_ids=list(answer.turn_ids),
        dry_run=answer.dry_run,
    )


def _result(done: Done, answer: Remembered) -> ResultOut:
    outcome = done.outcome
    text, _ = without_secrets(outcome.judged.proposal.text)
    sentence = _SENTENCES[outcome.status].format(text=text, reason=outcome.reason)
    return ResultOut(
        status=outcome.status,
        message=sentence,
        text=text,
        memory=memory_out(done.memory) if done.memory else None,
        superseded_id=next(iter(outcome.superseded_ids), None),
        superseded_ids=list(outcome.superseded_ids),
        retracted_ids=list(outcome.retracted_ids),
        hotspots=list(outcome.hotspots),
        review_id=outcome.review_id,
        reason_code=outcome.reason_code,
        reason=outcome.reason,
        check=to_response(*_checked(done, answer)),
        adjudication=weighed_out(outcome.weighed, done.weighing_entry) if outcome.weighed else None,
    )


def _checked(done: Done, answer: Remembered) -> tuple[CheckCommand, CheckAnswer]:
    """Return the gate's decision; a secret is not repeated as its evidence."""
    judged = done.outcome.judged
    check = judged.check
    if check.reason_code is ReasonCode.SECRET:
        check = replace(check, evidence=None, signals={})
    found = CheckAnswer(judged.decision_id, check, answer.policy, answer.models, done.check_entry)
    return CheckCommand(judged.proposal.question), found


def _nothing(skipped: list[SkippedOut]) -> str:
    reasons = ", ".join(dict.fromkeys(s.reason.value.replace("_", " ") for s in skipped))
    return f"Nothing was stored: {reasons or 'no fact was found'}."


def _first_reason(skipped: list[SkippedOut]) -> str | None:
    return skipped[0].reason.value if skipped else None

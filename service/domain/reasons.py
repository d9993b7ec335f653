"""One sentence for people about why a verdict was given."""

from __future__ import annotations

from service.domain.signals import ClaimSignals
from service.domain.verdicts import ReasonCode, Speaker

_QUOTE_LIMIT = 160

_SENTENCES = {
    ReasonCode.SUPPORTED: "The source says so: {evidence}.",
    ReasonCode.CONTRADICTED: "The source says otherwise: {evidence}.",
    ReasonCode.NUMBER_MISMATCH: "The fact says {claimed}, the source says {stated}: {evidence}.",
    ReasonCode.DATE_MISMATCH: "The fact says {claimed}, the source says {stated}: {evidence}.",
    ReasonCode.UNIT_MISMATCH: (
        "The fact says {claimed}, the source says {stated}, in another unit: {evidence}."
    ),
    ReasonCode.TENSE_MISMATCH: "The source says that this has ended: {evidence}.",
    ReasonCode.MISATTRIBUTED: "The source says this about somebody else: {evidence}.",
    ReasonCode.UNRELATED: "Nothing in the source is about this fact.",
    ReasonCode.UNSUPPORTED: "The source neither supports nor contradicts this: {evidence}.",
    ReasonCode.PARTIALLY_SUPPORTED: "Only a part of the fact is in the source: {evidence}.",
    ReasonCode.QUESTION_OR_HYPOTHETICAL: (
        "The source asks, plans or imagines this and does not state it: {evidence}."
    ),
    ReasonCode.QUOTED_OR_REPORTED: "These are somebody else's words in the source: {evidence}.",
    ReasonCode.NOT_THE_SPEAKER: "The {speaker} said this, not the user: {evidence}.",
    ReasonCode.INSTRUCTION: "The text gives orders to its reader instead of stating a fact.",
    ReasonCode.SECRET: "The text holds a credential or an identity number.",
    ReasonCode.TOXIC: "The text is toxic.",
    ReasonCode.UNSUPPORTED_LANGUAGE: "The text is in a language that is not supported: {language}.",
}


def reason_sentence(code: ReasonCode, claim: ClaimSignals | None, language: str) -> str:
    """Return the sentence for a reason code, naming the evidence where there is one."""
    evidence = claim.evidence if claim else None
    quoted = f"“{_short(evidence.text)}”" if evidence else "no sentence of it"
    values = claim.values if claim else None
    return _SENTENCES[code].format(
        evidence=quoted,
        claimed=values.claimed if values else "",
        stated=values.stated if values else "",
        speaker=_role(claim),
        language=language,
    )


def _role(claim: ClaimSignals | None) -> str:
    speaker = claim.speaker if claim else Speaker.OTHER
    return "other person" if speaker is Speaker.OTHER else speaker.value


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE_LIMIT else flat[: _QUOTE_LIMIT - 1] + "…"

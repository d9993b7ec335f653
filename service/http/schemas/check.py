"""``POST /check`` and ``POST /check/batch``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, StrictBool

from service.domain.verdicts import ReasonCode, Speaker, Verdict
from service.http.schemas.common import AnswerModel, Moment, Name, RequestModel, Text
from service.ports.storage import Appended

EXAMPLE: dict[str, Any] = {
    "source": "I moved to Lisbon in March and I love it here.",
    "fact": "The user lives in Lisbon.",
    "speaker": "user",
    "observed_at": "2026-11-29T17:00:00Z",
    "user_id": "ana",
}
CONVERSATION_EXAMPLE: dict[str, Any] = {
    "messages": [
        {"role": "assistant", "content": "Which stack do you use?"},
        {"role": "user", "content": "PostgreSQL on the backend, always."},
    ],
    "fact": "The user uses PostgreSQL.",
    "record": False,
}
BATCH_EXAMPLE: dict[str, Any] = {
    "items": [
        EXAMPLE,
        {
            "source": "I have two cats.",
            "fact": "The user has three cats.",
            "user_id": "ana",
        },
    ]
}


class MessageIn(RequestModel):
    """One turn of a conversation."""

    role: Speaker
    content: Text
    timestamp: Moment | None = None


class CheckRequest(RequestModel):
    """A fact and its source: either `source`, or `messages`."""

    source: Text | None = Field(None, description="The text that should justify the fact.")
    messages: Annotated[list[MessageIn], Field(min_length=1)] | None = Field(
        None, description="A conversation as the source, instead of `source`."
    )
    fact: Text = Field(description="One statement, as it would be remembered.")
    speaker: Speaker = Field(
        Speaker.USER, description="Who said `source`; with `messages` each has its own role."
    )
    speaker_name: Name | None = Field(
        None, description="What the speaker is called, so that “Alice is…” is about her."
    )
    observed_at: Moment | None = Field(
        None, description="When it was said; “yesterday” counts from there."
    )
    user_id: Name | None = Field(
        None, description="Whose fact it is. Without it no text is kept, only commitments."
    )
    policy: Name | None = Field(
        None, description="A fingerprint, a name, or `name@version`; the default without it."
    )
    record: StrictBool = Field(True, description="Whether the decision goes into the log.")


class BatchRequest(RequestModel):
    """Several checks, answered in order from one inference batch."""

    items: list[CheckRequest] = Field(min_length=1)


class EvidenceOut(AnswerModel):
    """Where in the source the verdict rests: `source[start:end] == text`, in code points."""

    text: str
    start: int
    end: int
    sentence: str


class ScoresOut(AnswerModel):
    """Raw model outputs, 0–1."""

    entailment: float
    neutral: float
    contradiction: float
    faithfulness: float
    relatedness: float
    toxicity: float | None = Field(default=None, exclude_if=lambda v: v is None)


class PolicyRef(AnswerModel):
    """Which rules applied."""

    name: str
    version: str
    fingerprint: str


class ModelsOut(AnswerModel):
    """Digests of the models that answered."""

    nli: str
    embedder: str


class AuditRef(AnswerModel):
    """Where the decision is in the log."""

    seq: int
    entry_hash: str
    checkpoint: str | None = Field(
        description="The last signed note when this was recorded; the next one covers it."
    )
    salts: dict[str, str] | None = Field(
        default=None,
        exclude_if=lambda v: v is None,
        description="Only without `user_id`: with them, whoever holds the texts can prove them.",
    )


def audit_ref(entry: Appended | None, salts: Mapping[str, str] | None) -> AuditRef | None:
    """Return where a decision is in the log."""
    if entry is None:
        return None
    return AuditRef(
        seq=entry.seq,
        entry_hash=entry.entry_hash,
        checkpoint=entry.checkpoint,
        salts=None if salts is None else dict(salts),
    )


class CheckResponse(AnswerModel):
    """A verdict and everything it rests on."""

    verdict: Verdict
    reason_code: ReasonCode
    reason: str
    evidence: EvidenceOut | None
    scores: ScoresOut
    signals: dict[str, Any]
    policy: PolicyRef
    models: ModelsOut
    audit: AuditRef | None
    decision_id: str
    source: str | None = Field(
        default=None,
        exclude_if=lambda v: v is None,
        description="With `messages`, or when the source is not plain ASCII: the text that "
        "`evidence` points into (turns joined, brought to NFC).",
    )


class BatchResponse(AnswerModel):
    """One answer per item, in the same order."""

    items: list[CheckResponse]

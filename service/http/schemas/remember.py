"""``POST /memory``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, JsonValue, StrictBool, StrictFloat, StrictInt

from service.domain.extraction.types import SkipReason
from service.domain.memory import MemoryType
from service.domain.verdicts import Speaker
from service.http.schemas.adjudicate import WeighedOut
from service.http.schemas.check import CheckResponse, MessageIn
from service.http.schemas.common import AnswerModel, Moment, Name, RequestModel, Text
from service.http.schemas.memory import MemoryOut
from service.usecases.proposals import Status

MESSAGE_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "message": "I use Arch Linux.",
    "observed_at": "2026-11-29T17:00:00Z",
}
MESSAGES_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "messages": [
        {"role": "assistant", "content": "When is it due?"},
        {"role": "user", "content": "My project deadline is October 15."},
    ],
}
FACT_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "fact": {
        "text": "The user works as a nurse.",
        "source": "I work as a nurse.",
        "evidence": "user said 2026-11-29",
    },
}
Share = Annotated[StrictFloat | StrictInt, Field(ge=0, le=1)]


class FactIn(RequestModel):
    """A fact as such: `text`, or `subject`, `attribute` and `value`.

    Without `source` the client states it itself: the text is then its own source.
    """

    text: Text | None = None
    subject: Name | None = Field(None, description="`user`, `user.brother`, or a name.")
    attribute: Name | None = None
    value: Text | None = None
    source: Text | None = None
    speaker: Speaker = Field(Speaker.USER, description="Who said the source.")
    evidence: Text | None = Field(
        None,
        description="`repo://path#L40-L82`, a URL, an issue id, or `user said 2026-11-29`.",
    )
    type: MemoryType | None = None
    importance: Share | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    expires_at: Moment | None = Field(None, description="Hides it from recall, never deletes.")
    authority: Name | None = Field(None, description="One of the policy's `authority_order`.")
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class RememberRequest(RequestModel):
    """What to remember: exactly one of `message`, `messages` and `fact`."""

    user_id: Name
    message: Text | None = Field(None, description="One message of the user's.")
    messages: Annotated[list[MessageIn], Field(min_length=1)] | None = None
    fact: FactIn | None = None
    agent_id: Name | None = None
    session_id: Name | None = None
    observed_at: Moment | None = Field(None, description="When it was said; now without it.")
    speaker_name: Name | None = Field(None, description="What the user is called.")
    policy: Name | None = None
    dry_run: StrictBool = Field(False, description="Say what would happen, and write nothing.")


class ResultOut(AnswerModel):
    """What became of one fact."""

    status: Status
    message: str
    text: str
    memory: MemoryOut | None
    superseded_id: str | None
    superseded_ids: list[str]
    retracted_ids: list[str]
    hotspots: list[str] = Field(description="Ids of memories that it may contradict.")
    review_id: str | None
    reason_code: str
    reason: str
    check: CheckResponse
    adjudication: WeighedOut | None


class SkippedOut(AnswerModel):
    """A passage that was considered and not kept."""

    text: str
    reason: SkipReason


class RememberResponse(AnswerModel):
    """What became of a request; the top level repeats the first result."""

    status: Status
    message: str = Field(description="One sentence for a person.")
    memory: MemoryOut | None
    superseded_id: str | None
    superseded_ids: list[str]
    review_id: str | None
    hotspots: list[str]
    reason_code: str | None
    results: list[ResultOut]
    skipped: list[SkippedOut]
    turn_ids: list[str]
    dry_run: bool

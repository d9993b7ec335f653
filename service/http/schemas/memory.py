"""A memory as it is shown, and requests about one."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from service.domain.memory import MemoryEvent, MemoryStatus, MemoryType, Turn
from service.http.schemas.common import AnswerModel, ListAnswer, Moment, Name, RequestModel, Text
from service.usecases.drift import Drift, Finding, Seen
from service.usecases.lineage import Changed
from service.usecases.memories import Story

REASON_EXAMPLE: dict[str, Any] = {"user_id": "ana", "reason": "She said it was a mistake."}
SUPERSEDE_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "fact": "The user lives in Porto.",
    "source": "I live in Porto.",
    "reason": "She moved.",
}


class ReasonRequest(RequestModel):
    """Why a memory changes."""

    user_id: Name | None = Field(None, description="Here or in the query.")
    reason: Text = Field(max_length=1000)


class SupersedeRequest(ReasonRequest):
    """A new text in place of an old one."""

    fact: Text = Field(description="The new text; it has to pass the gate.")
    source: Text | None = Field(None, description="What justifies it; without one, the fact.")


class SourceOut(AnswerModel):
    """Where a memory comes from: `turn.text[start:end] == text`, in code points."""

    turn_id: str | None
    role: str
    text: str
    start: int
    end: int
    content_hash: str = Field(description="SHA-256 of the whole turn.")


class MemoryOut(AnswerModel):
    """One memory."""

    id: str
    user_id: str
    agent_id: str | None
    session_id: str | None
    text: str
    type: MemoryType
    subject: str
    attribute: str
    value: str
    polarity: bool = Field(description="False for what does not hold.")
    importance: float
    status: MemoryStatus
    replaced_by: str | None
    supersedes: list[str]
    supersession_reason: str | None
    valid_from: Moment | None
    valid_to: Moment | None
    observed_at: Moment
    recorded_at: Moment
    updated_at: Moment
    superseded_at: Moment | None
    expires_at: Moment | None
    source: SourceOut
    evidence: str | None
    authority: str | None
    verdict: str
    decision_id: str | None
    policy_fingerprint: str
    contested: bool
    drift: Drift
    metadata: dict[str, Any]


class MemoryListOut(ListAnswer[MemoryOut]):
    """Memories, newest first."""


class StepOut(AnswerModel):
    """One step in the life of a memory; `seq` is its entry in the log."""

    memory_id: str
    action: str
    status: MemoryStatus
    at: Moment
    actor: str
    reason: str | None
    other_id: str | None
    seq: int | None


class HistoryOut(AnswerModel):
    """Memories that belong together, oldest first, and everything that happened to them."""

    items: list[MemoryOut]
    events: list[StepOut]
    next_cursor: None = None
    total: int


class ChangeOut(AnswerModel):
    """A memory after an actor's decision."""

    status: Literal["retracted", "deleted", "restored"]
    message: str
    memory: MemoryOut
    superseded_id: str | None
    superseded_ids: list[str]


class DriftItemOut(AnswerModel):
    """How one memory compares with its hashes, its turn, its offsets and the log."""

    memory_id: str
    status: Drift
    checks: dict[str, Drift]
    reason: str


class DriftOut(AnswerModel):
    """DRIFT if anything drifted, else UNVERIFIABLE if anything is, else MATCH."""

    status: Drift
    items: list[DriftItemOut]
    counts: dict[str, int]


class TurnOut(AnswerModel):
    """One message as it was received; what looked like a secret is blacked out."""

    id: str
    user_id: str
    agent_id: str | None
    session_id: str | None
    role: str
    text: str
    language: str
    content_hash: str
    observed_at: Moment
    recorded_at: Moment


def memory_out(seen: Seen) -> MemoryOut:
    """Return a memory as it is shown."""
    memory = seen.memory
    same = MemoryOut.model_fields.keys() & memory.__dataclass_fields__.keys()
    values = {name: getattr(memory, name) for name in same}
    owner, triple = memory.owner, memory.triple
    return MemoryOut(
        **values | {"supersedes": list(memory.supersedes), "metadata": dict(memory.metadata)},
        user_id=owner.user_id,
        agent_id=owner.agent_id,
        session_id=owner.session_id,
        subject=triple.subject,
        attribute=triple.attribute,
        value=triple.value,
        polarity=triple.polarity,
        source=SourceOut.model_validate(memory.origin, from_attributes=True),
        drift=seen.drift,
    )


def step_out(step: MemoryEvent) -> StepOut:
    """Return a step as it is shown."""
    return StepOut.model_validate(step, from_attributes=True)


def history_out(story: Story) -> HistoryOut:
    """Return a story as it is shown."""
    return HistoryOut(
        items=[memory_out(m) for m in story.memories],
        events=[step_out(s) for s in story.steps],
        total=len(story.memories),
    )


def change_out(changed: Changed) -> ChangeOut:
    """Return what became of a memory, with one sentence about it."""
    action, memory = changed.action.value, changed.memory.memory
    return ChangeOut.model_validate(
        {
            "status": action,
            "message": f"{action.capitalize()}: {memory.text}",
            "memory": memory_out(changed.memory),
            "superseded_id": next(iter(changed.superseded_ids), None),
            "superseded_ids": list(changed.superseded_ids),
        }
    )


def drift_item_out(found: Finding) -> DriftItemOut:
    """Return a finding as it is shown."""
    return DriftItemOut(
        memory_id=found.memory_id,
        status=found.status,
        checks=dict(found.checks),
        reason=found.reason,
    )


def turn_out(turn: Turn) -> TurnOut:
    """Return a turn as it is shown."""
    owner = turn.owner
    same = TurnOut.model_fields.keys() & turn.__dataclass_fields__.keys()
    return TurnOut(
        **{name: getattr(turn, name) for name in same},
        user_id=owner.user_id,
        agent_id=owner.agent_id,
        session_id=owner.session_id,
    )

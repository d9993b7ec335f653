"""Facts that are remembered, with their lineage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class MemoryType(StrEnum):
    """The five kinds of memory (seed: MemEngine)."""

    FACT = "fact"
    PREFERENCE = "preference"
    PROJECT_DETAIL = "project_detail"
    EVENT = "event"
    GOAL = "goal"


class MemoryStatus(StrEnum):
    """Where a memory is in its life; a row never leaves the store except by erasure."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    DELETED = "deleted"


class MemoryAction(StrEnum):
    """What can happen to a memory; each is one history event and one audit entry."""

    CREATED = "created"
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    DELETED = "deleted"
    RESTORED = "restored"
    CONTESTED = "contested"
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Triple:
    """Subject, attribute and value: what a fact says, as keys.

    ``subject`` is "user", "user.brother", a name in lower case, or a thing; ``attribute`` a snake
    case name ("home", "employer", "likes"); ``value`` as written;
    ``polarity`` is False for "does not".
    """

    subject: str
    attribute: str
    value: str
    polarity: bool = True


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a memory comes from: a span of one turn, ``turn.text[start:end] == text``.

    ``turn_id`` is None for a structured fact without a source; ``content_hash`` is the SHA-256 of
    the whole turn as it was when the memory was made; ``role`` who said it.
    """

    turn_id: str | None
    role: str
    text: str
    start: int
    end: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory it is. ``subject_id`` is the opaque id of the user."""

    subject_id: str
    user_id: str
    agent_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered fact. Text, triple and origin never change; a change is a new memory.

    Attributes:
        content_hash: SHA-256 over the immutable content, see ``content_digest``.
        valid_from: since when it holds in the world, where known.
        valid_to: until when it held, where known.
        observed_at: when it was said.
        recorded_at: when it was written here.
        updated_at: when its status last changed.
        superseded_at: when it stopped being active here.
        expires_at: hides it from recall afterwards, never deletes.
        replaced_by: the memory that took its place.
        supersedes: the memories whose place it took.
        evidence: a well-formed pointer (URL, ``repo://path#L1-L9``, issue id, ``user said DATE``).
        state_hash: SHA-256 over everything that can change, as last written to the log.
    """

    id: str
    owner: Owner
    text: str
    type: MemoryType
    triple: Triple
    importance: float
    status: MemoryStatus
    origin: Origin
    observed_at: datetime
    recorded_at: datetime
    updated_at: datetime
    verdict: str
    decision_id: str | None
    policy_fingerprint: str
    content_hash: str
    state_hash: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_at: datetime | None = None
    expires_at: datetime | None = None
    replaced_by: str | None = None
    supersedes: tuple[str, ...] = ()
    supersession_reason: str | None = None
    evidence: str | None = None
    authority: str | None = None
    contested: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as it was received, kept whether or not anything came of it."""

    id: str
    owner: Owner
    role: str
    text: str
    language: str
    content_hash: str
    observed_at: datetime
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """One step in the life of a memory; ``seq`` is its audit entry."""

    memory_id: str
    subject_id: str
    action: MemoryAction
    status: MemoryStatus
    at: datetime
    actor: str
    reason: str | None = None
    other_id: str | None = None
    seq: int | None = None


class ConflictStatus(StrEnum):
    """Whether a disagreement still waits for a judgement."""

    OPEN = "open"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both be true; both are contested while it is open."""

    id: str
    subject_id: str
    first: str
    second: str
    reason: str
    confidence: float
    status: ConflictStatus
    marked_at: datetime
    marked_by: str
    kept: str | None = None
    resolution: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None


class ReviewStatus(StrEnum):
    """Where an item of the review queue stands."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Review:
    """A candidate that the gate could not decide; ``candidate`` is JSON to try again from."""

    id: str
    subject_id: str
    status: ReviewStatus
    text: str
    reason_code: str
    reason: str
    candidate: Mapping[str, Any]
    decision_id: str | None
    opened_at: datetime
    closed_at: datetime | None = None
    closed_by: str | None = None
    note: str | None = None
    memory_id: str | None = None


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned once, with its evidence and what it applies to."""

    id: str
    subject_id: str | None
    text: str
    evidence: str
    applies_to: tuple[str, ...]
    recorded_at: datetime
    actor: str

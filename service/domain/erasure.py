"""What an erasure takes, what it leaves, and what became of it. Nothing here is a text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from service.domain.canonical import canonical_json

SCHEMA: Final = "groundkeeper.erasure-plan/1"


class ErasureMode(StrEnum):
    """What was asked to be erased."""

    MEMORIES = "memories"
    TURNS = "turns"
    ALL = "all"


class ErasureReason(StrEnum):
    """Why, as the log says it: a closed set, because the log can never be erased."""

    USER_REQUEST = "user_request"
    CONSENT_WITHDRAWN = "consent_withdrawn"
    RETENTION = "retention"
    LEGAL = "legal"
    MISTAKE = "mistake"
    OTHER = "other"


class ErasureStatus(StrEnum):
    """How far an erasure is: until everything behind the transaction is done, it is incomplete."""

    ERASED = "erased"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Asked:
    """What to erase of one user; ``ids`` are empty for everything."""

    mode: ErasureMode
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundState:
    """What a plan rests on: the user's last entry in the log, and their newest turn."""

    entry: int
    turn: int


@dataclass(frozen=True, slots=True)
class Link:
    """A memory that stays and whose lineage names one that goes.

    Nothing follows by itself: what was superseded stays so, and can be restored.
    """

    memory_id: str
    status: str
    relation: str
    erased_id: str


@dataclass(frozen=True, slots=True)
class BodyRef:
    """The texts of one entry of the log that go, by name."""

    seq: int
    decision_id: str | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What will be erased; ids only.

    Attributes:
        targets: the memories that were asked for, or that come from the turns asked for.
        duplicates: other memories of the user that say the same; they go too.
        collateral: other memories that cannot stay because their source goes; need consent.
        turns: every turn that goes.
        lineage: memories that stay and are linked to one that goes.
        restated: memories that stay, and lose the reason of their last step, which has the text.
        events: steps of memories that stay (row numbers) whose reason has the text.
        counts: how much there is, for everything of a user; ids are then not listed.
    """

    mode: ErasureMode
    subject_id: str
    state: GroundState
    targets: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    collateral: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    lineage: tuple[Link, ...] = ()
    restated: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()
    events: tuple[int, ...] = ()
    bodies: tuple[BodyRef, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def memories(self) -> tuple[str, ...]:
        """Return every memory that goes."""
        return (*self.targets, *self.duplicates, *self.collateral)

    @property
    def decisions(self) -> tuple[str, ...]:
        """Return the ids of the decisions that lose texts."""
        return tuple(b.decision_id for b in self.bodies if b.decision_id is not None)

    @property
    def named(self) -> tuple[str, ...]:
        """Return the ids that the log names as erased; those of turns are never in the log."""
        ids = (*self.memories, *self.decisions, *self.reviews, *self.conflicts, *self.lessons)
        return tuple(dict.fromkeys(ids))

    def as_json(self) -> dict[str, object]:
        """Return what the digest is over."""
        return {"schema": SCHEMA, **asdict(self), "mode": self.mode.value}

    @property
    def digest(self) -> str:
        """Return the SHA-256, in hex, of the plan's canonical JSON (RFC 8785)."""
        return hashlib.sha256(canonical_json(self.as_json())).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan as it waits for its confirmation: what was asked, not what was found."""

    plan_sha256: str
    subject_id: str
    asked: Asked
    reason_code: ErasureReason
    reason: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Finding:
    """What keeps an erasure from being complete, or what is not known: a code and a number."""

    code: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class ErasureRecord:
    """A receipt: what was erased, and the entries of the log that say so.

    ``memory_ids`` are the ids that the log names too; empty for everything of a user.
    """

    id: str
    plan_sha256: str
    subject_id: str
    mode: ErasureMode
    reason_code: ErasureReason
    reason: str
    actor: str
    memory_ids: tuple[str, ...]
    counts: Mapping[str, int]
    tombstones: tuple[int, ...]
    status: ErasureStatus
    findings: tuple[Finding, ...]
    erased_at: datetime
    finished_at: datetime | None = None

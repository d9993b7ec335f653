"""Facts that want to be remembered, before anything has judged them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.domain.check import CheckInput, CheckOutcome
from service.domain.extraction.types import Skipped
from service.domain.memory import MemoryType, Origin, Triple, Turn
from service.domain.verdicts import Speaker


class Status(StrEnum):
    """What became of something that was to be remembered."""

    CREATED = "created"
    SUPERSEDED = "superseded"
    CONFIRMED = "confirmed"
    RETRACTED = "retracted"
    IGNORED = "ignored"
    REVIEW = "review"
    REJECTED = "rejected"
    BLOCKED = "blocked"


WRITTEN = frozenset({Status.CREATED, Status.SUPERSEDED, Status.RETRACTED})
"""Outcomes that changed what is remembered."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One fact with the turn that should justify it; ``turn.text[start:end]`` is its passage.

    Attributes:
        retracts: the turn says that the triple no longer holds.
        correction: the turn says that it corrects something.
        replaces: the memory that an actor decided it replaces, whatever else is stored.
        approved_by: the review by which a person let it pass.
        said_as: for a fact without a source, how the user would say it; the gate's source.
    """

    text: str
    triple: Triple
    type: MemoryType
    importance: float
    turn: Turn
    start: int
    end: int
    retracts: bool = False
    correction: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    evidence: str | None = None
    authority: str | None = None
    speaker_name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    replaces: str | None = None
    reason: str | None = None
    approved_by: str | None = None
    said_as: str | None = None

    @property
    def question(self) -> CheckInput:
        """Return what the gate is asked about it."""
        return CheckInput(
            source=self.said_as or self.turn.text,
            fact=self.text,
            speaker=Speaker(self.turn.role),
            speaker_name=self.speaker_name,
            observed_at=self.turn.observed_at,
        )

    @property
    def origin(self) -> Origin:
        """Return where it comes from."""
        turn, start, end = self.turn, self.start, self.end
        return Origin(turn.id, turn.role, turn.text[start:end], start, end, turn.content_hash)


@dataclass(frozen=True, slots=True)
class Intake:
    """Everything that one request brought: turns, the facts in them, and what was left out.

    ``fresh`` are the turns that are not stored yet; ``undated`` the ids of those for which nobody
    said when they were said.
    """

    fresh: tuple[Turn, ...]
    proposals: tuple[Proposal, ...]
    skipped: tuple[Skipped, ...] = ()
    undated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal with the gate's decision on it."""

    proposal: Proposal
    check: CheckOutcome
    decision_id: str


def dated(turn: Turn, intake: Intake, now: datetime) -> Turn:
    """Return a turn that was said just now, unless somebody said when.

    Of many that arrive at once, the one that is written last counts as said last.
    """
    return replace(turn, observed_at=now) if turn.id in intake.undated else turn


_TIMES = ("valid_from", "valid_to", "expires_at")


def to_json(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as the review queue keeps it; the turn is named, not copied."""
    triple, times = proposal.triple, {n: getattr(proposal, n) for n in _TIMES}
    return {
        "text": proposal.text,
        "triple": [triple.subject, triple.attribute, triple.value, triple.polarity],
        "type": proposal.type.value,
        "importance": proposal.importance,
        "turn_id": proposal.turn.id,
        "start": proposal.start,
        "end": proposal.end,
        "retracts": proposal.retracts,
        "correction": proposal.correction,
        "evidence": proposal.evidence,
        "authority": proposal.authority,
        "speaker_name": proposal.speaker_name,
        "metadata": dict(proposal.metadata),
        "replaces": proposal.replaces,
        "reason": proposal.reason,
        "said_as": proposal.said_as,
        **{name: value.isoformat() if value else None for name, value in times.items()},
    }


def from_json(stored: Mapping[str, Any], turn: Turn, approved_by: str) -> Proposal:
    """Read a proposal of the review queue back, as approved by a person."""
    values = {k: v for k, v in stored.items() if k not in ("turn_id", *_TIMES)}
    subject, attribute, value, polarity = values.pop("triple")
    times = {n: datetime.fromisoformat(stored[n]) if stored[n] else None for n in _TIMES}
    return Proposal(
        **values | {"type": MemoryType(values["type"])} | times,
        triple=Triple(subject, attribute, value, polarity),
        turn=turn,
        approved_by=approved_by,
    )

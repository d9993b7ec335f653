"""What a report on the log says, before anybody decides how it looks.

Everything is about one tenant. Times are UTC; counts are of entries in the period of the report,
unless a field says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from service.audit.verify import Report


class Outcome(StrEnum):
    """What came of a decision, in the words of a reader."""

    LET_THROUGH = "let through"
    BLOCKED = "blocked"
    FLAGGED = "flagged for review"


OUTCOMES: Mapping[str, Outcome] = {
    "STORE": Outcome.LET_THROUGH,
    "ACCEPT": Outcome.LET_THROUGH,
    "REJECT": Outcome.BLOCKED,
    "BLOCK": Outcome.BLOCKED,
    "REVIEW": Outcome.FLAGGED,
}
"""The outcome of each verdict."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many decisions had each outcome."""

    let_through: int = 0
    blocked: int = 0
    flagged: int = 0

    @property
    def total(self) -> int:
        """Return how many there are."""
        return self.let_through + self.blocked + self.flagged

    def plus(self, outcome: Outcome) -> Counts:
        """Return the counts with one more."""
        return Counts(
            self.let_through + (outcome is Outcome.LET_THROUGH),
            self.blocked + (outcome is Outcome.BLOCKED),
            self.flagged + (outcome is Outcome.FLAGGED),
        )


@dataclass(frozen=True, slots=True)
class Bucket:
    """Decisions of one day, week, month or year, by the day it starts."""

    start: date
    counts: Counts


@dataclass(frozen=True, slots=True)
class Timeline:
    """Decisions over time, without a gap; ``unit`` is ``day``, ``week``, ``month`` or ``year``."""

    unit: str
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How often a reason was given for an outcome, and what it means."""

    code: str
    outcome: Outcome
    count: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Example:
    """One blocked fact with the evidence against it; the texts may be shortened."""

    seq: int
    at: str
    verdict: str
    reason_code: str
    meaning: str
    reason: str
    fact: str
    source: str
    evidence: str
    scores: Mapping[str, float]
    policy: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """What was blocked: the newest with texts, and why others are not shown.

    ``without_text`` were recorded without a text, or it was erased; ``withheld`` hold a secret.
    """

    total: int
    shown: tuple[Example, ...]
    without_text: int
    withheld: int


@dataclass(frozen=True, slots=True)
class OpenReview:
    """A fact that waits for a person, whatever the period of the report."""

    id: str
    opened_at: datetime
    days: float
    reason_code: str
    meaning: str
    text: str


@dataclass(frozen=True, slots=True)
class Reviews:
    """The review queue as it is now, oldest first, and what became of items in the period."""

    open: int
    oldest_days: float | None
    by_reason: Mapping[str, int]
    shown: tuple[OpenReview, ...]
    opened: int
    approved: int
    rejected: int


@dataclass(frozen=True, slots=True)
class PolicyPeriod:
    """From when to when a policy was the default.

    ``body`` and ``changes`` (its differences to the period before) are ``None`` where the body of a
    policy is not known here.
    """

    fingerprint: str
    name: str
    version: str
    since: str | None
    until: str | None
    decisions: int
    body: Mapping[str, Any] | None
    changes: tuple[Mapping[str, Any], ...] | None


@dataclass(frozen=True, slots=True)
class PolicyUse:
    """How many decisions named a policy, and when; requests may name another than the default."""

    fingerprint: str
    name: str
    version: str
    counts: Counts
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Erasures:
    """Erasures on the record; ``memories`` counts the ids they name, ``whole_users`` those of all.

    Nothing here says what was erased.
    """

    total: int
    memories: int
    whole_users: int


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Scored answers of ``POST /evaluate``, and entries of another log that were imported."""

    passed: int
    failed: int
    imported: int
    imported_unverified: int


@dataclass(frozen=True, slots=True)
class CheckpointStatus:
    """Where signing of the whole log stands when the report is made.

    ``uncovered`` are entries after the last checkpoint; ``problem`` says why none is signed.
    """

    size: int | None
    root: str | None
    at: datetime | None
    age_seconds: float | None
    uncovered: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class LogReport:
    """Everything a report says.

    Attributes:
        tenant: whose entries it is about.
        origin: the name of the log.
        made_at: when it was made.
        since: the start of the period, inclusive; ``None`` is from the first entry.
        until: its end, exclusive; ``None`` is to the last entry.
        first: the time of the first entry in the period.
        last: the time of the last one.
        entries: how many entries of the tenant are in it.
        damaged: how many of them cannot be read; verification says more.
        actions: entries by kind.
        checks: outcomes of checks.
        adjudications: outcomes of adjudications.
        verification: what verifying the whole log found, now.
    """

    tenant: str
    origin: str
    made_at: datetime
    since: datetime | None
    until: datetime | None
    first: str | None
    last: str | None
    entries: int
    damaged: int
    actions: Mapping[str, int]
    checks: Counts
    adjudications: Counts
    timeline: Timeline
    reasons: tuple[ReasonCount, ...]
    blocked: Blocked
    reviews: Reviews
    policies: tuple[PolicyPeriod, ...]
    policies_used: tuple[PolicyUse, ...]
    erasures: Erasures
    evaluations: Evaluations
    checkpoint: CheckpointStatus | None
    verification: Report

    @property
    def decisions(self) -> Counts:
        """Return the outcomes of checks and adjudications together."""
        one, other = self.checks, self.adjudications
        return Counts(
            one.let_through + other.let_through,
            one.blocked + other.blocked,
            one.flagged + other.flagged,
        )

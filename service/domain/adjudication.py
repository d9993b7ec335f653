"""Does a new memory replace an old one? Types; the rules are in ``adjudicate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.check import CheckOutcome, SignalValue
from service.domain.memory import Triple


class AdjudicationVerdict(StrEnum):
    """What to do with an incoming memory."""

    ACCEPT = "ACCEPT"
    BLOCK = "BLOCK"
    REVIEW = "REVIEW"


class Relation(StrEnum):
    """How an incoming memory stands to an existing one."""

    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    CONFLICTS = "conflicts"
    COEXISTS = "coexists"


class AdjudicationReason(StrEnum):
    """Why, beyond the reason codes of a check."""

    UPDATE = "update"
    DUPLICATE = "duplicate"
    COEXISTS = "coexists"
    INCOMING_UNSUPPORTED = "incoming_unsupported"
    WEAKER_EVIDENCE = "weaker_evidence"
    LOWER_AUTHORITY = "lower_authority"
    NOT_NEW_EVIDENCE = "not_new_evidence"
    DISJOINT_INTERVALS = "disjoint_intervals"


@dataclass(frozen=True, slots=True)
class Statement:
    """One side of an adjudication: a fact, its source and when and by whom it was said.

    ``triples`` are the triples of its claims. ``correction`` says that the source speaks of a
    change, ``additive`` that it adds to what was ("also", "too"), ``past`` that the fact is about
    a time that is over. ``people`` are the names in the fact, in lower case.
    """

    fact: str
    source: str
    check: CheckOutcome
    triples: tuple[Triple, ...]
    speaker: str = "user"
    authority: str | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    id: str | None = None
    correction: bool = False
    additive: bool = False
    past: bool = False
    people: frozenset[str] = frozenset()
    recalled: bool = False


@dataclass(frozen=True, slots=True)
class PairSignals:
    """What the models say about two facts: relatedness 0–1 and entailment both ways, 0–1."""

    relatedness: float
    forward_entailment: float
    backward_entailment: float
    contradiction: float


@dataclass(frozen=True, slots=True)
class PairFinding:
    """The outcome for one existing memory; ``settled`` when time or person keeps them apart."""

    relation: Relation
    stays_active: bool
    reason_code: str
    reason: str
    settled: bool = False


@dataclass(frozen=True, slots=True)
class AdjudicationOutcome:
    """The outcome for the incoming memory and for each existing one, in order."""

    verdict: AdjudicationVerdict
    reason_code: str
    reason: str
    findings: tuple[PairFinding, ...]
    signals: Mapping[str, SignalValue] = field(default_factory=dict)

"""Everything that the gate found out before it decides."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.domain.check import Evidence
from service.domain.entailment import EntailmentScores
from service.domain.guards.attribution import Attribution
from service.domain.guards.tense import TenseFinding
from service.domain.guards.values import ValueReport
from service.domain.verdicts import ReasonCode, Speaker


@dataclass(frozen=True, slots=True)
class ClaimSignals:
    """What was found about one claim of a fact.

    Attributes:
        text: the claim as the entailment model read it.
        phrasings: scores by how the pair was put, see ``docs/evaluation.md``.
        evidence: the clause that fits best.
        relatedness: of claim and evidence, 0–1.
        overlap: share of the claim's content words in the evidence, 0–1.
        attribution: whose the evidence is.
        misattributed: the evidence belongs to somebody else.
        speech_veto: why the evidence does not commit its speaker, if so.
        planned: the evidence only plans what it speaks of.
        tense: how the times fit.
        taken_back: the source ends or withdraws it further on.
        values: how numbers and dates compare.
        unstated: names that the source does not have.
        opposed: polarity or an opposite on the same predicate contradicts.
        coexists: both may hold because the predicate has many values.
        restated: the evidence has the claim's every word, its predicate and its polarity.
        speaker: who said the evidence.
        about_speaker: the claim is about the user.
    """

    text: str
    phrasings: dict[str, EntailmentScores]
    evidence: Evidence | None
    relatedness: float
    overlap: float
    attribution: Attribution
    misattributed: bool
    speech_veto: ReasonCode | None
    planned: bool
    tense: TenseFinding
    taken_back: bool
    values: ValueReport
    unstated: tuple[str, ...]
    opposed: bool
    coexists: bool
    restated: bool
    speaker: Speaker
    about_speaker: bool

    @property
    def faithfulness(self) -> float:
        """Return the entailment that most phrasings grant (their lower median), 0–1."""
        scores = sorted((s.entailment for s in self.phrasings.values()), reverse=True)
        return scores[len(scores) // 2] if scores else 0.0

    @property
    def objection(self) -> float:
        """Return the strongest contradiction that any phrasing sees, 0–1."""
        return max((s.contradiction for s in self.phrasings.values()), default=0.0)

    @property
    def mean(self) -> EntailmentScores:
        """Return the mean over the phrasings."""
        scores = list(self.phrasings.values()) or [EntailmentScores(0.0, 1.0, 0.0)]
        n = len(scores)
        return EntailmentScores(
            sum(s.entailment for s in scores) / n,
            sum(s.neutral for s in scores) / n,
            sum(s.contradiction for s in scores) / n,
        )


@dataclass(frozen=True, slots=True)
class Signals:
    """What was found about a whole fact."""

    claims: tuple[ClaimSignals, ...]
    language: str = "en"
    language_supported: bool = True
    secret: bool = False
    instruction: bool = False
    recalled: bool = False
    toxicity: float | None = None
    notes: dict[str, str] = field(default_factory=dict)

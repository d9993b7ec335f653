"""Scores of a natural-language-inference model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EntailmentScores:
    """Probabilities that a premise entails, says nothing about, or contradicts a hypothesis.

    Each is in 0–1 and the three sum to 1 (within rounding).
    """

    entailment: float
    neutral: float
    contradiction: float

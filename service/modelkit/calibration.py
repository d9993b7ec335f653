"""Temperature scaling and the numbers that say how well probabilities are calibrated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float64]
Labels = NDArray[np.int64]
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a calibration curve: the most likely class's mean probability and accuracy."""

    count: int
    confidence: float
    accuracy: float


def probabilities(logits: Logits) -> Logits:
    """Return the softmax of each row."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def log_loss(logits: Logits, labels: Labels) -> float:
    """Return the mean negative log-likelihood."""
    chosen = probabilities(logits)[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(chosen, 1e-12)).mean())


def best_temperature(logits: Logits, labels: Labels) -> float:
    """Return the divisor of the logits, between 0.25 and 4, with the least log loss."""
    candidates = np.exp(np.linspace(np.log(0.25), np.log(4), 401))
    return float(min(candidates, key=lambda t: log_loss(logits / t, labels)))


def calibration_curve(logits: Logits, labels: Labels) -> list[Bin]:
    """Return the non-empty bins, from the least to the most confident."""
    scores = probabilities(logits)
    confidence, hit = scores.max(axis=1), scores.argmax(axis=1) == labels
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return [
        Bin(int(rows.sum()), float(confidence[rows].mean()), float(hit[rows].mean()))
        for rows in (place == index for index in range(BINS))
        if rows.any()
    ]


def expected_calibration_error(curve: list[Bin]) -> float:
    """Return the mean distance between confidence and accuracy, weighted by the bins' sizes."""
    total = sum(b.count for b in curve)
    return sum(b.count * abs(b.confidence - b.accuracy) for b in curve) / total

"""The small classifier on top of the encoder, in plain numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.domain.entailment import EntailmentScores
from service.domain.errors import Unavailable

CLASSES = ("entailment", "neutral", "contradiction")
DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Head:
    """A linear layer, or two with a rectifier between; scaling and temperature are folded in."""

    layers: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return three logits for one feature vector, in the order of ``CLASSES``."""
        values = features.astype(np.float64)
        for index, (weights, bias) in enumerate(self.layers):
            values = weights @ (np.maximum(values, 0) if index else values) + bias
        return values


def load_head(path: Path) -> Head:
    """Return the head stored in an ``.npz`` file.

    The file holds ``classes`` (checked against ``CLASSES``) and ``w0``, ``b0``, ``w1``, ….

    Raises:
        Unavailable: the file is no head; names it.

    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            classes = tuple(str(name) for name in stored["classes"])
            count = (len(stored.files) - 1) // 2
            layers = tuple(
                (stored[f"w{i}"].astype(np.float64), stored[f"b{i}"].astype(np.float64))
                for i in range(count)
            )
    except (OSError, ValueError, KeyError) as error:
        raise Unavailable("nli model", f"{path}: is no head ({error})") from error
    if classes != CLASSES or not layers:
        raise Unavailable("nli model", f"{path}: its classes are {classes}, not {CLASSES}")
    return Head(layers)


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of one row of logits."""
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum(), dtype=np.float64)


def combine(windows: list[NDArray[np.float64]]) -> EntailmentScores:
    """Return the scores of a premise from the probabilities of its windows.

    One window is enough to entail or to contradict, so both take their largest value over the
    windows; where the two together exceed 1 they are scaled down to 1. The rest is neutral. Scores
    are rounded to ``DECIMALS``, so that rounding noise never reaches a verdict.
    """
    entailment = max(float(window[0]) for window in windows)
    contradiction = max(float(window[2]) for window in windows)
    scale = max(1.0, entailment + contradiction)
    entailment = round(entailment / scale, DECIMALS)
    contradiction = round(contradiction / scale, DECIMALS)
    neutral = max(0.0, round(1 - entailment - contradiction, DECIMALS))
    return EntailmentScores(entailment, neutral, contradiction)

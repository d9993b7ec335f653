"""From a cosine to "how likely does this memory answer": what makes one threshold mean one thing.

Raw cosines of MiniLM mean different things for different queries, and none separates what answers
from what is merely on the topic. Two logistic curves replace them, fitted on own personas (70
answered, 67 unanswerable questions) and reported on others (43 and 43) in ``docs/recall.md``:

- *checked*: where the entailment model was asked whether the memory entails the query as a
  statement: cosine, log-odds of entailment, and whether the memory lacks the kind of thing that
  was asked for (a name, a time, a number);
- *unchecked*: by cosine alone, and strict, since on its own it cannot tell topic from answer.
"""

from __future__ import annotations

import math
from typing import Final

COSINE: Final = 9.4
ENTAILMENT: Final = 0.61
LACKS: Final = -1.9
BIAS: Final = -3.72
UNCHECKED_MIDDLE: Final = 0.75
UNCHECKED_SLOPE: Final = 0.06
CERTAIN: Final = 0.85
"""From this cosine on, with nothing lacking, the entailment model is not asked."""

_EDGE = 1e-4


def checked(cosine: float, entailment: float, *, lacks: bool) -> float:
    """Return 0–1 for a memory that the entailment model has seen."""
    held = min(max(entailment, _EDGE), 1 - _EDGE)
    odds = COSINE * cosine + ENTAILMENT * math.log(held / (1 - held)) + BIAS
    return _logistic(odds + (LACKS if lacks else 0.0))


def unchecked(cosine: float, *, lacks: bool) -> float:
    """Return 0–1 for a memory that only the embedding model has seen."""
    odds = (cosine - UNCHECKED_MIDDLE) / UNCHECKED_SLOPE
    return _logistic(odds + (LACKS if lacks else 0.0))


def definition() -> dict[str, float]:
    """Return every constant, for the hash of the scorer's definition."""
    return {
        "cosine": COSINE,
        "entailment": ENTAILMENT,
        "lacks": LACKS,
        "bias": BIAS,
        "middle": UNCHECKED_MIDDLE,
        "slope": UNCHECKED_SLOPE,
        "certain": CERTAIN,
    }


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))

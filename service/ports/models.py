"""What the gate asks of its models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from service.domain.entailment import EntailmentScores


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answered: ``digest`` is ``sha256:<hex>`` over everything that shapes its output.

    For one file that is the file's own SHA-256; for several (graph, tokenizer, head) it is the
    SHA-256 over the canonical JSON of the manifest entry that lists their hashes.
    """

    model_id: str
    role: str
    digest: str


class EntailmentModel(Protocol):
    """A natural-language-inference classifier."""

    @property
    def identity(self) -> ModelIdentity:
        """Return which model answers."""
        ...

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[EntailmentScores]:
        """Return one score per (premise, hypothesis), in order.

        The result for a pair never depends on the other pairs of the call. A premise longer than
        the model's window is scored in overlapping windows, never cut.

        Raises:
            Overloaded: the queue before the model is full.
            Unavailable: the model is not loaded.

        """
        ...


class Embedder(Protocol):
    """A sentence-embedding model."""

    @property
    def identity(self) -> ModelIdentity:
        """Return which model answers."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of one vector."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array ``[len(texts), dimensions]`` of L2-normalised rows, in order.

        Raises:
            Overloaded: the queue before the model is full.
            Unavailable: the model is not loaded.

        """
        ...

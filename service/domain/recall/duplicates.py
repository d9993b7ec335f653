"""Near-duplicates collapse into the best-ranked one, so that restatements crowd out nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from service.domain.memory import Memory
from service.domain.recall.scoring import DUPLICATE_COSINE
from service.domain.recall.tokens import folded, tokens

T = TypeVar("T")
Vector = NDArray[np.float32]


def collapsed(
    found: Sequence[T], memory_of: Callable[[T], Memory], vectors: dict[str, Vector], limit: int
) -> list[T]:
    """Return the first ``limit`` that say something that none before them says.

    Two memories of one status are duplicates if their words are the same, or if they have the same
    triple and their vectors' cosine is at least 0.97.
    """
    kept: list[T] = []
    for one in found:
        if len(kept) == limit:
            break
        if not any(_same(memory_of(one), memory_of(k), vectors) for k in kept):
            kept.append(one)
    return kept


def _same(a: Memory, b: Memory, vectors: dict[str, Vector]) -> bool:
    if a.status is not b.status:
        return False
    if tokens(a.text) == tokens(b.text):
        return True
    return _triple(a) == _triple(b) and _cosine(a, b, vectors) >= DUPLICATE_COSINE


def _triple(memory: Memory) -> tuple[str, str, str, bool]:
    triple = memory.triple
    return triple.subject, triple.attribute, folded(triple.value), triple.polarity


def _cosine(a: Memory, b: Memory, vectors: dict[str, Vector]) -> float:
    if a.id not in vectors or b.id not in vectors:
        return 0.0
    return float(vectors[a.id] @ vectors[b.id])

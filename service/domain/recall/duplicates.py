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
    kept: list[tuple[T, Memory, list[str]]] = []
    for one in found:
        if len(kept) == limit:
            break
        memory = memory_of(one)
        words = tokens(memory.text)
        if not any(_same((memory, words), (m, w), vectors) for _, m, w in kept):
            kept.append((one, memory, words))
    return [one for one, _, _ in kept]


def comparable(memories: Sequence[Memory]) -> list[str]:
    """Return the ids of those that share a triple with another: only their vectors matter."""
    alike: dict[tuple[str, str, str, bool], list[str]] = {}
    for memory in memories:
        alike.setdefault(_triple(memory), []).append(memory.id)
    return [memory_id for ids in alike.values() if len(ids) > 1 for memory_id in ids]


def _same(
    a: tuple[Memory, list[str]], b: tuple[Memory, list[str]], vectors: dict[str, Vector]
) -> bool:
    (one, words), (other, others) = a, b
    if one.status is not other.status:
        return False
    if words == others:
        return True
    return _triple(one) == _triple(other) and _cosine(one, other, vectors) >= DUPLICATE_COSINE


def _triple(memory: Memory) -> tuple[str, str, str, bool]:
    triple = memory.triple
    return triple.subject, triple.attribute, folded(triple.value), triple.polarity


def _cosine(a: Memory, b: Memory, vectors: dict[str, Vector]) -> float:
    if a.id not in vectors or b.id not in vectors:
        return 0.0
    return float(vectors[a.id] @ vectors[b.id])

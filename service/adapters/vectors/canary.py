"""Whether an index holds what SQL holds and finds it: asked before it serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from service.adapters.vectors.chroma import ChromaIndex
from service.adapters.vectors.matrix import ranked
from service.ports.embeddings import SubjectVectors
from service.ports.index import IndexKey, Vector

LEAST_RECALL: Final = 0.98
WEAK: Final = "recall_too_low"
_SELF: Final = 256
_QUERIES: Final = 48
_TOP: Final = 10
_NEAR: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one user's part of an index (empty: nothing), and its recall."""

    problem: str
    recall: float = 0.0


def examine(index: ChromaIndex, key: IndexKey, truth: SubjectVectors) -> Finding:
    """Compare ids, look vectors up by themselves, and compare answers with the exact ones."""
    if index.ids(key) != frozenset(truth.ids):
        return Finding("ids_differ")
    if not truth.ids:
        return Finding("", 1.0)
    chance = np.random.default_rng(len(truth.ids))
    if not finds_itself(index, key, truth, chance):
        return Finding("vector_unreachable")
    recall = _recall(index, key, truth, chance)
    return Finding("" if recall >= LEAST_RECALL else WEAK, recall)


def finds_itself(
    index: ChromaIndex, key: IndexKey, truth: SubjectVectors, chance: np.random.Generator
) -> bool:
    """Return whether a sample of the vectors, used as queries, find a vector equal to them."""
    rows = chance.choice(len(truth.ids), size=min(_SELF, len(truth.ids)), replace=False)
    for row in rows:
        hits = index.search(key, truth.matrix[row], 1)
        if not hits or hits[0].cosine < 1.0 - _NEAR:
            return False
    return True


def _recall(
    index: ChromaIndex, key: IndexKey, truth: SubjectVectors, chance: np.random.Generator
) -> float:
    top = min(_TOP, len(truth.ids))
    shares = [
        _share(index, key, truth, _between(truth.matrix, chance), top) for _ in range(_QUERIES)
    ]
    return float(np.mean(shares))


def _between(matrix: Vector, chance: np.random.Generator) -> Vector:
    """Return a query near two stored vectors, and equal to neither."""
    pair = matrix[chance.integers(0, len(matrix), size=2)].sum(axis=0)
    noisy = pair + chance.normal(scale=0.01, size=pair.shape)
    return np.asarray(noisy / np.linalg.norm(noisy), dtype=np.float32)


def _share(
    index: ChromaIndex, key: IndexKey, truth: SubjectVectors, query: Vector, top: int
) -> float:
    scores = np.vecdot(truth.matrix, query)
    least = float(np.partition(scores, len(scores) - top)[len(scores) - top]) - _NEAR
    rows = {memory_id: row for row, memory_id in enumerate(truth.ids)}
    found = [rows[h.memory_id] for h in index.search(key, query, top) if h.memory_id in rows]
    hits = ranked([truth.ids[row] for row in found], truth.matrix[found], query)
    return sum(hit.cosine >= least for hit in hits) / top

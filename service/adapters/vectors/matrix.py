"""One user's vectors in memory, searched exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from service.domain.errors import InvalidInput
from service.ports.index import IndexHit, Vector

_ROOM: Final = 16
_SPARE: Final = 8
"""How many more rows than asked are scored again: more than rounding could ever reorder."""


class Matrix:
    """Rows that grow in place; a removed row is filled with the last one. Not thread-safe."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._data: Vector = np.empty((0, 0), dtype=np.float32)

    @classmethod
    def over(cls, memory_ids: Sequence[str], vectors: Vector) -> Matrix:
        """Return a matrix of different memories that takes the vectors over, without a copy."""
        made = cls()
        made._ids = list(memory_ids)
        made._rows = {memory_id: row for row, memory_id in enumerate(memory_ids)}
        made._data = vectors
        return made

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._rows

    @property
    def size(self) -> int:
        """Return how many bytes the vectors take."""
        return int(self._data.nbytes)

    def put(self, memory_ids: Sequence[str], vectors: Vector) -> None:
        """Add or replace rows."""
        if not memory_ids:
            return
        self._make_room(len(memory_ids), int(vectors.shape[1]))
        for memory_id, vector in zip(memory_ids, vectors, strict=True):
            row = self._rows.setdefault(memory_id, len(self._ids))
            if row == len(self._ids):
                self._ids.append(memory_id)
            self._data[row] = vector

    def remove(self, memory_ids: Iterable[str]) -> None:
        """Forget rows; what they held is overwritten."""
        for memory_id in memory_ids:
            row = self._rows.pop(memory_id, None)
            if row is None:
                continue
            last = self._ids.pop()
            if last != memory_id:
                self._ids[row], self._rows[last] = last, row
                self._data[row] = self._data[len(self._ids)]
            self._data[len(self._ids)] = 0.0

    def search(self, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest rows, best first."""
        count = len(self._ids)
        if count == 0 or limit < 1:
            return []
        check_dimensions(query, int(self._data.shape[1]))
        scores = np.vecdot(self._data[:count], query)  # one thread: spinning ones cost 12 ms here
        rows = np.arange(count)
        if limit + _SPARE < count:
            rows = np.argpartition(scores, count - limit - _SPARE)[count - limit - _SPARE :]
        return ranked([self._ids[row] for row in rows], self._data[rows], query)[:limit]

    def cosines(self, query: Vector, memory_ids: Iterable[str]) -> dict[str, float]:
        """Return the exact cosines of those of the memories that have a row."""
        ids = [memory_id for memory_id in memory_ids if memory_id in self._rows]
        vectors = self._data[[self._rows[memory_id] for memory_id in ids]] if ids else self._data
        return {hit.memory_id: hit.cosine for hit in ranked(ids, vectors, query)}

    def _make_room(self, more: int, dimensions: int) -> None:
        needed = len(self._ids) + more
        if self._ids:
            check_dimensions(self._data[0], dimensions)
        if needed <= len(self._data) and self._ids:
            return
        room = max(_ROOM, needed + needed // 8) if self._ids else needed
        grown = np.zeros((room, dimensions), dtype=np.float32)
        if self._ids:
            grown[: len(self._ids)] = self._data[: len(self._ids)]
        self._data = grown


def check_dimensions(vector: Vector, dimensions: int) -> None:
    """Raise ``InvalidInput`` for a vector that cannot be compared."""
    if vector.shape != (dimensions,):
        raise InvalidInput("vector", f"must have {dimensions} numbers, not {vector.shape}")


def ranked(memory_ids: Sequence[str], vectors: Vector, query: Vector) -> list[IndexHit]:
    """Return exact cosines, best first, ties by id.

    Each row is summed on its own in double precision, so that a memory's score is the same number
    whichever index found it and whatever else was found with it.
    """
    if not memory_ids:
        return []
    products = vectors.astype(np.float64)
    products *= query.astype(np.float64)
    cosines = products.sum(axis=1).tolist()
    hits = [IndexHit(i, c) for i, c in zip(memory_ids, cosines, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.cosine, hit.memory_id))

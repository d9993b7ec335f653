"""The exact index: every vector is compared. Oracle, fallback, and what serves small users."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from service.adapters.vectors.matrix import Matrix
from service.ports.index import IndexHit, IndexKey, Vector


class ExactIndex:
    """Implements ``VectorIndex`` in memory."""

    def __init__(self) -> None:
        self._matrices: dict[IndexKey, Matrix] = {}
        self._lock = threading.Lock()

    def put(self, key: IndexKey, memory_ids: Sequence[str], vectors: Vector) -> None:
        """Add or replace vectors."""
        with self._lock:
            self._matrices.setdefault(key, Matrix()).put(memory_ids, vectors)

    def remove(self, key: IndexKey, memory_ids: Sequence[str]) -> None:
        """Forget vectors; unknown ids are ignored."""
        with self._lock:
            if key in self._matrices:
                self._matrices[key].remove(memory_ids)

    def search(self, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest vectors of one user, best first."""
        with self._lock:
            matrix = self._matrices.get(key)
            return [] if matrix is None else matrix.search(query, limit)

    def count(self) -> int:
        """Return how many vectors there are."""
        with self._lock:
            return sum(map(len, self._matrices.values()))

    def close(self) -> None:
        """Let go of the vectors."""
        with self._lock:
            self._matrices.clear()

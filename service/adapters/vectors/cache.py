"""Exact search over SQL: one user's vectors are read once, then only what was written since."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from service.adapters.vectors.matrix import Matrix
from service.ports.index import IndexHit, IndexKey, Vector
from service.ports.storage import Transaction


@dataclass(slots=True)
class _Cached:
    """A matrix with everything up to a position in it."""

    digest: str
    matrix: Matrix = field(default_factory=Matrix)
    position: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class SqlVectors:
    """Matrices per user, those used least recently dropped first.

    A search first takes in what its transaction sees beyond the cached position, so a vector that
    was just written is found. What was erased leaves through ``forget``; until then the caller's
    look at SQL drops it.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._users: OrderedDict[IndexKey, _Cached] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self, tx: Transaction, key: IndexKey, digest: str, query: Vector, limit: int
    ) -> list[IndexHit]:
        """Return the nearest of one user's vectors of one model, best first."""
        cached = self._entry(key, digest)
        with cached.lock:
            newer = tx.embeddings.of_subject(key.subject_id, digest, cached.position)
            if len(cached.matrix):
                cached.matrix.put(newer.ids, newer.matrix)
            elif newer.ids:
                cached.matrix = Matrix.over(newer.ids, newer.matrix)
            cached.position = newer.position
            hits = cached.matrix.search(query, limit)
        if newer.ids:
            self._shrink()
        return hits

    def cosines(
        self, key: IndexKey, digest: str, query: Vector, memory_ids: Iterable[str]
    ) -> dict[str, float]:
        """Return the cosines of those memories whose vectors are here already."""
        with self._lock:
            cached = self._users.get(key)
        if cached is None or cached.digest != digest:
            return {}
        with cached.lock:
            return cached.matrix.cosines(query, memory_ids)

    def forget(self, tenant: str, memory_ids: Iterable[str]) -> None:
        """Remove erased memories from every matrix of a tenant."""
        gone = list(memory_ids)
        with self._lock:
            theirs = [c for key, c in self._users.items() if key.tenant == tenant]
        for cached in theirs:
            with cached.lock:
                cached.matrix.remove(gone)

    def drop(self, key: IndexKey) -> None:
        """Drop one user's matrix."""
        with self._lock:
            self._users.pop(key, None)

    def keep(self, sizes: Mapping[IndexKey, int]) -> None:
        """Drop the matrices that do not have as many rows as SQL has."""
        with self._lock:
            for key in [k for k, c in self._users.items() if len(c.matrix) != sizes.get(k, 0)]:
                del self._users[key]

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._users.clear()

    @property
    def size(self) -> int:
        """Return how many bytes the vectors take."""
        with self._lock:
            return sum(c.matrix.size for c in self._users.values())

    def _entry(self, key: IndexKey, digest: str) -> _Cached:
        with self._lock:
            cached = self._users.get(key)
            if cached is None or cached.digest != digest:
                cached = self._users[key] = _Cached(digest)
            self._users.move_to_end(key)
            return cached

    def _shrink(self) -> None:
        with self._lock:
            size = sum(c.matrix.size for c in self._users.values())
            while size > self._limit and len(self._users) > 1:
                _, dropped = self._users.popitem(last=False)
                size -= dropped.matrix.size

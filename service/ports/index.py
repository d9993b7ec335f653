"""What recall asks of a vector index. SQL is the truth; an index can always be rebuilt from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from service.ports.storage import Transaction

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IndexKey:
    """Which vectors belong together: one tenant's, one user's. Nothing else is searched."""

    tenant: str
    subject_id: str


@dataclass(frozen=True, slots=True)
class IndexHit:
    """A candidate: the memory and the cosine of its vector with the query, −1 to 1."""

    memory_id: str
    cosine: float


@dataclass(frozen=True, slots=True)
class IndexState:
    """What ``/ready`` says about an index.

    ``lag`` counts changes in the outbox that it has not taken in; ``generation`` names the folder
    that serves; ``serving`` is "chroma", "exact" or what else stands in; ``note`` says why when it
    is not the configured one.
    """

    serving: str
    generation: str
    vectors: int
    lag: int
    note: str = ""


class VectorIndex(Protocol):
    """Nearest vectors of one user's memories, whatever their status; SQL filters afterwards."""

    def put(self, key: IndexKey, memory_ids: Sequence[str], vectors: Vector) -> None:
        """Add or replace vectors ``[len(memory_ids), d]``; the same twice changes nothing."""
        ...

    def remove(self, key: IndexKey, memory_ids: Sequence[str]) -> None:
        """Forget vectors; unknown ids are ignored."""
        ...

    def search(self, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest vectors of one user, best first, at most ``limit``."""
        ...

    def count(self) -> int:
        """Return how many vectors there are."""
        ...

    def close(self) -> None:
        """Let go of files and threads."""
        ...


class NearestMemories(Protocol):
    """What recall asks: the nearest memories, whichever index serves."""

    def search(self, tx: Transaction, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest memories of one user that the transaction sees, best first.

        Whatever was committed before is found, indexed or not; status and time are not looked at.
        Scores are summed the same way whichever index found them. Raises ``Unavailable`` while the
        embedder, whose vectors these are, is not loaded.
        """
        ...

    def state(self) -> IndexState:
        """Return what serves and how far behind it is."""
        ...

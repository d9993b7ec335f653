"""The vectors of memories as SQL keeps them: the truth that every index is rebuilt from.

Each vector carries the digest of the model that made it; reading asks for one digest, so vectors of
two models never meet. ``position`` grows with every vector that is written, in commit order:
whoever has seen everything up to one position asks only for what came after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SubjectVectors:
    """Vectors of one user: ``matrix[i]`` is that of ``ids[i]``; ``position`` is the last one's.

    Without any, ``matrix`` has no rows and ``position`` is what was asked to start after.
    """

    ids: tuple[str, ...]
    matrix: Vector
    position: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory, of whatever status, that has no vector of the model."""

    memory_id: str
    subject_id: str
    text: str


class EmbeddingStore(Protocol):
    """Vectors of one tenant's memories, and what the index's thread asks across tenants."""

    def put(self, memory_id: str, subject_id: str, digest: str, vector: Vector) -> bool:
        """Store or replace a memory's one vector; return False if there is no such memory.

        Raises ``InvalidInput`` for a vector that is not finite, flat and of length 1.
        """
        ...

    def add(self, memory_id: str, subject_id: str, digest: str, vector: Vector) -> None:
        """Store the vector of a memory of this user that has none yet.

        Raises ``InvalidInput`` as ``put`` does, and ``Conflict`` when there is no such memory or it
        has a vector.
        """
        ...

    def many(self, subject_id: str, digest: str, memory_ids: Sequence[str]) -> SubjectVectors:
        """Return one user's vectors for those of the ids that have one, in the order asked."""
        ...

    def of_subject(self, subject_id: str, digest: str, after: int = 0) -> SubjectVectors:
        """Return one user's vectors written after a position, oldest first."""
        ...

    def owners(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the ``subject_id`` of those of the memories that exist."""
        ...

    def sizes(self, digest: str) -> Mapping[str, int]:
        """Return how many vectors each user has."""
        ...

    def missing(
        self, digest: str, limit: int, among: Sequence[str] | None = None
    ) -> Sequence[Unembedded]:
        """Return memories without a vector of the model: all of them, or those among some ids."""
        ...

    def others(self, digest: str) -> int:
        """Return how many vectors of any tenant come from another model."""
        ...

    def tenants(self) -> Sequence[str]:
        """Return every tenant that has memories."""
        ...

    def waiting(self) -> Mapping[str, int]:
        """Return how many changes wait in the outbox, for each tenant that has any."""
        ...

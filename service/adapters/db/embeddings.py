"""The vectors of memories in SQL."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import and_, bindparam, delete, func, or_, select

from service.adapters.db.columns import required_stamp
from service.adapters.db.listed import json_list, listed
from service.adapters.db.memory_tables import embeddings, memories, outbox
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.domain.errors import InvalidInput
from service.ports.embeddings import SubjectVectors, Unembedded, Vector

_STORED = np.dtype("<f4")
_TOLERANCE = 1e-3
_CHUNK = 500  # ids in one statement


WHOSE = Prepared(
    select(memories.c.subject_id).where(
        memories.c.tenant == bindparam("tenant"), memories.c.id == bindparam("memory_id")
    )
)
FORGET = Prepared(
    delete(embeddings).where(
        embeddings.c.tenant == bindparam("tenant"),
        embeddings.c.memory_id == bindparam("memory_id"),
    )
)
MANY = Prepared(
    select(
        embeddings.c.position,
        embeddings.c.memory_id,
        embeddings.c.vector,
        embeddings.c.subject_id,
        embeddings.c.model_digest,
    ).where(
        embeddings.c.tenant == bindparam("tenant"),
        embeddings.c.memory_id.in_(listed("ids")),
    )
)
OF_SUBJECT = Prepared(
    select(embeddings.c.position, embeddings.c.memory_id, embeddings.c.vector)
    .where(
        embeddings.c.tenant == bindparam("tenant"),
        embeddings.c.subject_id == bindparam("subject_id"),
        embeddings.c.model_digest == bindparam("digest"),
        embeddings.c.position > bindparam("after"),
    )
    .order_by(embeddings.c.position)
)


class SqlEmbeddings(Repository):
    """Implements ``EmbeddingStore``."""

    def put(self, memory_id: str, subject_id: str, digest: str, vector: Vector) -> bool:
        """Store or replace a memory's vector; it gets a new position either way."""
        data = _encoded(vector)
        if self._one(WHOSE, memory_id=memory_id) != (subject_id,):
            return False
        old = {"tenant": self._session.scope.tenant, "memory_id": memory_id}
        FORGET.run(self._session.connection, old)
        self._insert(embeddings, **self._row(memory_id, subject_id, digest, data))
        return True

    def add(self, memory_id: str, subject_id: str, digest: str, vector: Vector) -> None:
        """Store the vector of a memory that has none; raises ``Conflict`` without the memory."""
        row = self._row(memory_id, subject_id, digest, _encoded(vector))
        self._add("vector", embeddings, **row)

    def many(self, subject_id: str, digest: str, memory_ids: Sequence[str]) -> SubjectVectors:
        """Return one user's vectors for those of the ids that have one, in the order asked."""
        # The user is compared here: asked for both, SQLite reads all of theirs (15 ms at 10,000).
        rows = self._tuples(MANY, ids=json_list(memory_ids))
        found = {row[1]: row for row in rows if row[3:] == (subject_id, digest)}
        return _vectors([found[i] for i in dict.fromkeys(memory_ids) if i in found], 0)

    def of_subject(self, subject_id: str, digest: str, after: int = 0) -> SubjectVectors:
        """Return one user's vectors written after a position, oldest first."""
        rows = self._tuples(OF_SUBJECT, subject_id=subject_id, digest=digest, after=after)
        return _vectors(rows, after)

    def owners(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return whose those of the memories are that exist."""
        found: dict[str, str] = {}
        for ids in _chunks(memory_ids):
            query = self._rows_of(memories).where(memories.c.id.in_(ids))
            rows = self._execute(query.with_only_columns(memories.c.id, memories.c.subject_id))
            found.update((row.id, row.subject_id) for row in rows)
        return found

    def sizes(self, digest: str) -> Mapping[str, int]:
        """Return how many vectors each user has."""
        subject = embeddings.c.subject_id
        query = select(subject, func.count().label("size")).where(self._mine(embeddings))
        query = query.where(embeddings.c.model_digest == digest).group_by(subject)
        return {row.subject_id: int(row.size) for row in self._execute(query)}

    def missing(
        self, digest: str, limit: int, among: Sequence[str] | None = None
    ) -> Sequence[Unembedded]:
        """Return memories without a vector of the model, retired ones too, oldest first."""
        theirs = and_(
            embeddings.c.tenant == memories.c.tenant, embeddings.c.memory_id == memories.c.id
        )
        query = (
            select(memories.c.id, memories.c.subject_id, memories.c.text)
            .select_from(memories.outerjoin(embeddings, theirs))
            .where(self._mine(memories))
            .where(or_(embeddings.c.position.is_(None), embeddings.c.model_digest != digest))
        )
        if among is not None:
            query = query.where(memories.c.id.in_(among))
        rows = self._execute(query.order_by(memories.c.position).limit(limit))
        return [Unembedded(row.id, row.subject_id, row.text) for row in rows]

    def others(self, digest: str) -> int:
        """Return how many vectors of any tenant come from another model."""
        query = select(func.count()).select_from(embeddings)
        return int(self._execute(query.where(embeddings.c.model_digest != digest)).scalar_one())

    def tenants(self) -> Sequence[str]:
        """Return every tenant that has memories."""
        return list(self._execute(select(memories.c.tenant).distinct()).scalars())

    def waiting(self) -> Mapping[str, int]:
        """Return how many changes wait in the outbox, for each tenant that has any."""
        query = select(outbox.c.tenant, func.count().label("size")).group_by(outbox.c.tenant)
        return {row.tenant: int(row.size) for row in self._execute(query)}

    def _row(self, memory_id: str, subject_id: str, digest: str, data: bytes) -> dict[str, object]:
        return {
            "memory_id": memory_id,
            "subject_id": subject_id,
            "model_digest": digest,
            "vector": data,
            "created_at": required_stamp(self._session.clock.now()),
        }


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))


def _encoded(vector: Vector) -> bytes:
    if vector.ndim != 1 or not abs(math.sqrt(vector @ vector) - 1.0) <= _TOLERANCE:
        raise InvalidInput("vector", "must be flat, finite and of length 1")
    return np.ascontiguousarray(vector, dtype=_STORED).tobytes()


def _vectors(rows: Sequence[tuple[Any, ...]], after: int) -> SubjectVectors:
    """Return vectors from rows of position, memory and vector."""
    if not rows:
        return SubjectVectors((), np.empty((0, 0), dtype=np.float32), after)
    positions, ids, vectors, *_ = zip(*rows, strict=True)
    joined = np.frombuffer(bytearray().join(vectors), dtype=_STORED)
    matrix = joined.astype(np.float32, copy=False).reshape(len(rows), -1)
    return SubjectVectors(ids, matrix, max(positions))

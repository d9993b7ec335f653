"""Keeping vectors equal to memories: every memory has one, made by the model that is configured.

Nothing here knows an index: SQL is put right first, and indexes are built from SQL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.audit.canonical import JsonValue
from service.domain.errors import NotFound, Unavailable
from service.domain.memory import Memory
from service.ports.embeddings import Unembedded, Vector
from service.ports.index import IndexKey
from service.ports.models import Embedder
from service.ports.storage import SYSTEM, Database, EntryDraft, Scope, Transaction

BATCH = 64
REFUSED = "embeddings"
_NOT_TOKEN = re.compile(r"[^\x21-\x7e]+")


class OnModelChange(StrEnum):
    """What to do when stored vectors come from another model than the one configured."""

    REEMBED = "reembed"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A rebuild of an index, for the log: why, and what is in it now."""

    generation: str
    reason: str
    digest: str
    users: int
    vectors: int
    recall: float


def store_embedding(tx: Transaction, memory: Memory, vector: Vector, digest: str) -> None:
    """Store the vector of a memory, in the transaction that stores the memory.

    Raises ``NotFound`` when the memory was not stored before, in this transaction or another.
    """
    if not tx.embeddings.put(memory.id, memory.owner.subject_id, digest, vector):
        raise NotFound("memory")


def refuse_other_models(database: Database, digest: str, policy: OnModelChange) -> None:
    """Raise ``Unavailable`` if there are vectors of another model and they shall stay."""
    if policy is OnModelChange.REEMBED:
        return
    foreign = database.read(SYSTEM, lambda tx: tx.embeddings.others(digest))
    if foreign:
        raise Unavailable(
            REFUSED,
            f"{foreign} stored vectors come from another embedding model. Configure that model "
            "again, or set GROUNDKEEPER_VECTORS__ON_MODEL_CHANGE=reembed to make them anew",
        )


def embed_missing(
    database: Database, embedder: Embedder, tenant: str, among: Sequence[str] | None = None
) -> int:
    """Embed up to one batch of memories that lack a vector; return how many there were.

    Inference happens between the transactions. A memory that is erased meanwhile gets none.
    """
    scope, digest = background(tenant), embedder.identity.digest
    lacking = database.read(scope, lambda tx: tx.embeddings.missing(digest, BATCH, among))
    if not lacking:
        return 0
    vectors = embedder.embed([memory.text for memory in lacking])
    database.write(scope, lambda tx: _put_all(tx, digest, lacking, vectors))
    return len(lacking)


def tenants(database: Database) -> Sequence[str]:
    """Return every tenant that has memories."""
    return database.read(SYSTEM, lambda tx: tx.embeddings.tenants())


def large_users(database: Database, digest: str, least: int) -> dict[IndexKey, int]:
    """Return the users with at least so many vectors of the model, and how many each has."""
    found: dict[IndexKey, int] = {}
    for tenant in tenants(database):
        sizes = database.read(background(tenant), lambda tx: tx.embeddings.sizes(digest))
        found |= {IndexKey(tenant, who): size for who, size in sizes.items() if size >= least}
    return found


def record_rebuild(database: Database, rebuilt: Rebuilt) -> None:
    """Add a rebuild to the audit log."""
    scores: dict[str, JsonValue] = {
        "users": rebuilt.users * 1_000_000,
        "vectors": rebuilt.vectors * 1_000_000,
        "recall": round(rebuilt.recall * 1_000_000),
    }
    draft = EntryDraft(
        kind="index.rebuilt",
        actor=SYSTEM.actor,
        decision={
            "id": rebuilt.generation,
            "verdict": None,
            "reason_code": _NOT_TOKEN.sub("_", rebuilt.reason)[:128],
            "scores_e6": scores,
        },
        models={"embedder": rebuilt.digest},
    )
    database.write(SYSTEM, lambda tx: tx.audit.append(draft, {}))


def background(tenant: str) -> Scope:
    """Return the scope in which the service works on a tenant's rows by itself."""
    return Scope(tenant, SYSTEM.key)


def _put_all(tx: Transaction, digest: str, memories: Sequence[Unembedded], vectors: Vector) -> None:
    for memory, vector in zip(memories, vectors, strict=True):
        if tx.embeddings.put(memory.memory_id, memory.subject_id, digest, vector):
            tx.outbox.put(memory.memory_id)

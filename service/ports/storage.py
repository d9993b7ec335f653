"""Everything that is kept in SQL: one transaction per request, seen through one tenant's scope.

A use case passes a closure to ``Database.write`` or ``Database.read``; the closure gets a
``Transaction`` that can reach this tenant's rows only. The closure may be run once, never commits,
and must not keep the transaction after it returns. Errors are those of ``service.domain.errors``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from service.audit.entry import EntryDraft
from service.audit.rows import AuditRow, Body, FileState, Head
from service.ports.audit import Appended, AuditFilter, AuditStore
from service.ports.embeddings import EmbeddingStore
from service.ports.erasure import ErasureStores
from service.ports.memory import (
    AttributeStore,
    ConflictStore,
    LessonStore,
    MemoryStore,
    OutboxStore,
    ReviewStore,
    TurnStore,
)
from service.ports.paging import Page, PageRequest
from service.ports.receipts import ReceiptStore
from service.ports.subject_keys import SubjectRef

__all__ = [
    "SYSTEM",
    "Appended",
    "AuditFilter",
    "AuditRow",
    "AuditStore",
    "Body",
    "Database",
    "DatabaseHealth",
    "DecisionRecord",
    "DecisionStore",
    "EntryDraft",
    "FileState",
    "Head",
    "IdempotencyStore",
    "Page",
    "PageRequest",
    "PolicyRecord",
    "PolicyStore",
    "Scope",
    "StoredAnswer",
    "SubjectStore",
    "Transaction",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scope:
    """Who is asking: the tenant whose rows are visible, and the id of the key it asks with."""

    tenant: str
    key: str

    @property
    def actor(self) -> str:
        """Return what entries name: ``tenant:key``, so that the hash covers the tenant too."""
        return f"{self.tenant}:{self.key}"


SYSTEM = Scope(tenant="system", key="system")
"""The service itself: opening the log, rotating keys, rebuilding indexes."""


@dataclass(frozen=True, slots=True)
class PolicyRecord:
    """One immutable version of a policy; ``body`` is its canonical JSON."""

    fingerprint: str
    name: str
    version: str
    body: str
    legacy_fingerprint: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """The business row of a decision; its texts and scores are in the audit log at ``seq``."""

    id: str
    kind: str
    subject_id: str | None
    seq: int
    verdict: str
    reason_code: str
    policy_fingerprint: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What was answered to the first request with an idempotency key."""

    request_hash: str
    status: int
    body: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """What ``/ready`` says about the database."""

    at_head: bool
    revision: str | None
    engine_version: str
    journal_mode: str
    warnings: tuple[str, ...]


class PolicyStore(Protocol):
    """Versions of this tenant's policies."""

    def add(self, record: PolicyRecord) -> None:
        """Store a version; the same fingerprint again changes nothing.

        Raises ``Conflict`` when name and version exist with another fingerprint.
        """
        ...

    def get(self, fingerprint: str) -> PolicyRecord | None:
        """Return the policy with this fingerprint."""
        ...

    def by_name(self, name: str, version: str | None = None) -> PolicyRecord | None:
        """Return this version, or without one the version that was added last."""
        ...

    def list(self, page: PageRequest) -> Page[PolicyRecord]:
        """List all versions, those added last first."""
        ...

    def default(self) -> str | None:
        """Return the fingerprint that applies when a request names none."""
        ...

    def set_default(self, fingerprint: str) -> None:
        """Make a stored policy the default; raises ``NotFound`` for an unknown one."""
        ...


class SubjectStore(Protocol):
    """Opaque ids for users, so that the log never holds a ``user_id``."""

    def id_for(self, user_id: str) -> str:
        """Return the user's ``sub_…`` id, making one on first use (needs a write)."""
        ...

    def find(self, user_id: str) -> str | None:
        """Return the user's id, or ``None`` if nothing was ever recorded."""
        ...

    def everybody(self) -> Sequence[SubjectRef]:
        """Return every user of every tenant, for the service itself."""
        ...


class DecisionStore(Protocol):
    """Decisions of the tenant, by id."""

    def add(self, record: DecisionRecord) -> None:
        """Store a decision; raises ``Conflict`` when the id exists."""
        ...

    def get(self, decision_id: str) -> DecisionRecord | None:
        """Return the decision with this id."""
        ...


class IdempotencyStore(Protocol):
    """Answers already given, by idempotency key."""

    def get(self, key: str) -> StoredAnswer | None:
        """Return the answer given to this key."""
        ...

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep an answer; the same key and request again keeps the first.

        Raises ``IdempotencyMismatch`` when the key was used with another request.
        """
        ...


class Transaction(Protocol):
    """One unit of work in one tenant's scope."""

    @property
    def scope(self) -> Scope:
        """Return whose rows this transaction sees."""
        ...

    @property
    def policies(self) -> PolicyStore:
        """Return the tenant's policies."""
        ...

    @property
    def decisions(self) -> DecisionStore:
        """Return the tenant's decisions."""
        ...

    @property
    def audit(self) -> AuditStore:
        """Return the audit log."""
        ...

    @property
    def subjects(self) -> SubjectStore:
        """Return the tenant's opaque user ids."""
        ...

    @property
    def idempotency(self) -> IdempotencyStore:
        """Return the tenant's idempotency keys."""
        ...

    @property
    def memories(self) -> MemoryStore:
        """Return the tenant's memories with their history."""
        ...

    @property
    def turns(self) -> TurnStore:
        """Return the messages as they were received."""
        ...

    @property
    def conflicts(self) -> ConflictStore:
        """Return the disagreements between memories."""
        ...

    @property
    def reviews(self) -> ReviewStore:
        """Return the candidates that wait for a person."""
        ...

    @property
    def attributes(self) -> AttributeStore:
        """Return what the tenant declared about attributes."""
        ...

    @property
    def lessons(self) -> LessonStore:
        """Return the tenant's lessons."""
        ...

    @property
    def outbox(self) -> OutboxStore:
        """Return what the vector index still has to take in."""
        ...

    @property
    def embeddings(self) -> EmbeddingStore:
        """Return the vectors of the tenant's memories."""
        ...

    @property
    def receipts(self) -> ReceiptStore:
        """Return the receipts of recalls."""
        ...

    @property
    def erasure(self) -> ErasureStores:
        """Return what erasure reaches."""
        ...


class Database(Protocol):
    """Runs units of work."""

    def write(self, scope: Scope, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` and commit; returns only once its changes are safely on disk.

        If ``work`` raises, its changes are undone and the error is raised here. Raises
        ``Overloaded`` when too many writes wait, and ``Unavailable`` when the disk fails (then
        nothing of ``work`` was kept).
        """
        ...

    def read(self, scope: Scope, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` on a consistent snapshot in which writing fails."""
        ...

    def freeze(self, reason: str) -> None:
        """Let every later write raise ``ReadOnly`` with this reason; reading goes on."""
        ...

    def health(self) -> DatabaseHealth:
        """Return whether the database can serve, and what to worry about."""
        ...

    def close(self) -> None:
        """Finish waiting writes, close every connection and let go of the data directory."""
        ...

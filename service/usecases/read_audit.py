"""Read the audit log, and verify it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from service.audit.entry import Entry, parse_entry
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow
from service.audit.tree import consistency_proof, inclusion_proof
from service.audit.verify import Anchors, Report
from service.domain.errors import InvalidInput, NotFound
from service.ports.checkpoints import SignedCheckpoint
from service.ports.storage import (
    SYSTEM,
    AuditFilter,
    Body,
    Database,
    Page,
    PageRequest,
    Scope,
    Transaction,
)
from service.usecases.verification import verify_log

__all__ = [
    "AuditQuery",
    "AuditView",
    "Consistency",
    "Inclusion",
    "ReadAudit",
    "verify_log",
    "view_of",
]


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which of the tenant's entries to list."""

    user_id: str | None = None
    verdict: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditView:
    """One entry; ``entry`` is ``None`` when its stored bytes are damaged."""

    seq: int
    entry_hash: str
    data: bytes
    entry: Entry | None
    bodies: Mapping[str, Body]


@dataclass(frozen=True, slots=True)
class Inclusion:
    """The proof that an entry is number ``seq`` of the log of ``size`` entries with this root."""

    seq: int
    size: int
    leaf: bytes
    root: bytes
    path: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Consistency:
    """The proof that the log of ``first`` entries is a prefix of the log of ``second``."""

    first: int
    second: int
    first_root: bytes
    second_root: bytes
    path: tuple[bytes, ...]


class ReadAudit:
    """The use cases behind ``GET /audit…``."""

    def __init__(
        self,
        *,
        database: Database,
        origin: str | None = None,
        signed: Callable[[], SignedCheckpoint | None] = lambda: None,
    ) -> None:
        self._database = database
        self._origin = origin
        self._signed = signed

    def list(self, scope: Scope, query: AuditQuery, page: PageRequest) -> Page[AuditView]:
        """Return the tenant's entries, newest first."""

        def work(tx: Transaction) -> Page[AuditView]:
            subject = tx.subjects.find(query.user_id) if query.user_id is not None else None
            if query.user_id is not None and subject is None:
                return Page((), None, 0)
            which = AuditFilter(subject, query.verdict, query.action, query.since, query.until)
            found = tx.audit.list(which, page)
            return Page(tuple(view_of(r) for r in found.items), found.next_cursor, found.total)

        return self._database.read(scope, work)

    def get(self, scope: Scope, seq: int) -> AuditView:
        """Return one entry; raises ``NotFound``, also for another tenant's."""
        row = self._database.read(scope, lambda tx: tx.audit.get(seq))
        if row is None:
            raise NotFound("audit entry")
        return view_of(row)

    def proof(self, scope: Scope, seq: int, size: int | None = None) -> Inclusion:
        """Prove that one of the tenant's entries is in the log, by default as it is now.

        Raises:
            NotFound: no such entry, or another tenant's.
            InvalidInput: a size that the log does not have, or in which the entry is not yet.
        """

        def work(tx: Transaction) -> Inclusion:
            if tx.audit.get(seq) is None:
                raise NotFound("audit entry")
            end = _size_of(tx, size)
            if seq >= end:
                raise InvalidInput("size", f"must be above seq, {seq}")
            path = inclusion_proof(seq, end, tx.audit.node)
            return Inclusion(seq, end, tx.audit.node(0, seq), tx.audit.root(end), path)

        return self._database.read(scope, work)

    def consistency(self, first: int, second: int | None = None) -> Consistency:
        """Prove that the log only grew between two sizes, the second by default as it is now.

        Raises ``InvalidInput`` for sizes that the log does not have, or not in this order.
        """

        def work(tx: Transaction) -> Consistency:
            end = _size_of(tx, second)
            if first > end:
                raise InvalidInput("first", f"must be at most the second size, {end}")
            path = consistency_proof(first, end, tx.audit.node)
            return Consistency(first, end, tx.audit.root(first), tx.audit.root(end), path)

        return self._database.read(SYSTEM, work)

    def verify(self) -> Report:
        """Verify the whole log, every tenant's entries included, and its last checkpoint."""
        last = self._signed()  # before the snapshot: it must not be newer than the log
        anchors = Anchors(unopened="there is no signed checkpoint to compare with")
        if last is not None:
            anchors = Anchors(stored=(last.checkpoint,))
        name = self._origin or (last.checkpoint.origin if last is not None else None)
        return self._database.read(SYSTEM, lambda tx: verify_log(tx, name, anchors))

    def size(self) -> int:
        """Return how many entries the whole log has."""
        return self._database.read(SYSTEM, lambda tx: tx.audit.head().size)


def _size_of(tx: Transaction, size: int | None) -> int:
    end = tx.audit.head().size
    if size is None:
        return end
    if size > end:
        raise InvalidInput("size", f"must be at most {end}, the size of the log")
    return size


def view_of(row: AuditRow) -> AuditView:
    """Return a row of the log as it is shown."""
    try:
        entry = parse_entry(row.entry)
    except VerificationError:
        entry = None
    return AuditView(row.seq, row.leaf, row.entry, entry, row.readable())

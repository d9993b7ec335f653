"""Read the audit log, and verify it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from service.audit.entry import Entry, parse_entry
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow
from service.audit.verify import Report, verify
from service.domain.errors import NotFound
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


class ReadAudit:
    """The use cases behind ``GET /audit…``."""

    def __init__(self, *, database: Database, origin: str | None = None) -> None:
        self._database = database
        self._origin = origin

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

    def verify(self) -> Report:
        """Verify the whole log, every tenant's entries included."""
        return self._database.read(SYSTEM, lambda tx: verify_log(tx, self._origin))

    def size(self) -> int:
        """Return how many entries the whole log has."""
        return self._database.read(SYSTEM, lambda tx: tx.audit.head().size)


def verify_log(tx: Transaction, origin: str | None = None) -> Report:
    """Verify the whole log; without ``origin`` the log's own word for its name is taken."""
    head = tx.audit.head()
    return verify(
        tx.audit.scan(), origin=origin or head.origin, head=head, file=tx.audit.file_state()
    )


def view_of(row: AuditRow) -> AuditView:
    """Return a row of the log as it is shown."""
    try:
        entry = parse_entry(row.entry)
    except VerificationError:
        entry = None
    return AuditView(row.seq, row.leaf, row.entry, entry, row.bodies)

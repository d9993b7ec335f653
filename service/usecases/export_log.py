"""A tenant's entries as one stream, in order, without ever holding more than a page of them.

Each page is read in a transaction of its own: a long one would keep the database from ever
truncating its write-ahead log, and entries do not change. What was appended after the start is
left out, so that a stream ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.audit.notes import note_text, parse_checkpoint
from service.audit.rows import AuditRow
from service.audit.tree import inclusion_proof
from service.ports.storage import SYSTEM, AuditFilter, Database, Scope, Transaction
from service.usecases.export_csv import csv_head, csv_rows
from service.usecases.read_audit import AuditQuery

PAGE: Final = 500
_READER: Final = "export"
_DEFAULT: Final = "default"


class ExportFormat(StrEnum):
    """How entries are written."""

    JSONL = "jsonl"
    CSV = "csv"
    PROOFS = "proofs"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: everything, one tenant's entries, or those of one user of a tenant."""

    tenant: str | None = None
    user: str | None = None
    bodies: bool = False

    @property
    def is_part(self) -> bool:
        """Return whether entries are left out."""
        return self.tenant is not None or self.user is not None

    @property
    def scope(self) -> Scope:
        """Return whose entries are read; every tenant's belong to the whole log."""
        return Scope(self.tenant or _DEFAULT, _READER) if self.is_part else SYSTEM


class ExportLog:
    """The use case behind ``GET /audit/export``.

    ``latest`` gives the last signed checkpoint, as a note, if there is one.
    """

    def __init__(self, *, database: Database, latest: Callable[[], str | None]) -> None:
        self._database = database
        self._latest = latest

    def run(self, scope: Scope, query: AuditQuery, form: ExportFormat) -> Iterator[bytes]:
        """Return the tenant's entries as chunks of bytes.

        As JSON Lines, each line is exactly the bytes that were hashed. With proofs, each line is
        an object with the entry as text and its inclusion proof in the last signed checkpoint.
        """
        which = self._which(scope, query)
        end = self._database.read(SYSTEM, lambda tx: tx.audit.head().size)
        if form is ExportFormat.CSV:
            yield csv_head()
        if which is None:
            return
        note = self._latest()
        signed = 0 if note is None else min(parse_checkpoint(note_text(note)).size, end)
        yield from self._pages(scope, which, end, signed, form)

    def _which(self, scope: Scope, query: AuditQuery) -> AuditFilter | None:
        """Return what to look for, or ``None`` for a user nothing was ever recorded about."""
        subject = None
        if query.user_id is not None:
            user = query.user_id
            subject = self._database.read(scope, lambda tx: tx.subjects.find(user))
            if subject is None:
                return None
        return AuditFilter(subject, query.verdict, query.action, query.since, query.until)

    def _pages(
        self, scope: Scope, which: AuditFilter, end: int, signed: int, form: ExportFormat
    ) -> Iterator[bytes]:
        last = -1

        def work(tx: Transaction) -> tuple[Sequence[AuditRow], bytes]:
            rows = tx.audit.after(which, last, PAGE)
            return rows, _render(tx, [r for r in rows if r.seq < end], signed, form)

        while True:
            rows, data = self._database.read(scope, work)
            if data:
                yield data
            if len(rows) < PAGE or rows[-1].seq >= end:
                return
            last = rows[-1].seq


def _render(tx: Transaction, rows: Sequence[AuditRow], signed: int, form: ExportFormat) -> bytes:
    if form is ExportFormat.CSV:
        return csv_rows(rows)
    if form is ExportFormat.PROOFS:
        return b"".join(proof_line(tx, row, signed) for row in rows)
    return b"".join(row.entry + b"\n" for row in rows)


def proof_line(tx: Transaction, row: AuditRow, signed: int) -> bytes:
    """Return an entry with its proof; one later than the checkpoint has none yet."""
    covered = row.seq < signed
    path = inclusion_proof(row.seq, signed, tx.audit.node) if covered else ()
    record = {
        "seq": row.seq,
        "entry": row.entry.decode("ascii", "backslashreplace"),
        "leaf": row.leaf,
        "size": signed if covered else None,
        "path": [node.hex() for node in path],
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"

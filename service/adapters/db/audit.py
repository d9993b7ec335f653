"""The audit log in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, insert, select, update

from migrations.triggers import AUDIT_TRIGGERS
from service.adapters.db import cursors
from service.adapters.db.errors import domain_errors
from service.adapters.db.repository import Repository
from service.adapters.db.sealing import Bodies, check_bodies, stored_bodies
from service.adapters.db.tables import body, entry, head
from service.audit.chain import leaf_hash, search_columns
from service.audit.entry import EntryDraft, format_timestamp, parse_timestamp, seal
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow, Body, FileState, Head
from service.domain.errors import InvalidInput, ReadOnly
from service.ports.storage import Appended, AuditFilter, Page, PageRequest

SCAN_ROWS = 1_000
BEFORE_ALL = -(2**63)  # also before numbers that only a forger would use
END = select(head)
ADVANCE = update(head).where(head.c.id == 1)
KEEP_BODY = insert(body)
SCAN = select(entry).where(entry.c.seq > bindparam("last")).order_by(entry.c.seq).limit(SCAN_ROWS)
BODIES = select(body).where(body.c.seq.between(bindparam("first"), bindparam("last")))


class SqlAudit(Repository):
    """Implements ``AuditStore``."""

    def open_log(self, origin: str, leaf: str) -> None:
        """Make the head of a log that has no entries; ``leaf`` is its genesis hash."""
        self._execute(insert(head).values(id=1, origin=origin, size=0, leaf=leaf, ts=""))

    def has_head(self) -> bool:
        """Tell whether the log was opened before."""
        return self._execute(select(head.c.id)).first() is not None

    def next_seq(self) -> int:
        """Return the number of the next entry."""
        return self.head().size

    def append(self, draft: EntryDraft, bodies: Mapping[str, Body]) -> Appended:
        """Seal the draft as the next entry."""
        if draft.actor != self._session.scope.actor:
            raise InvalidInput("actor", "is not the one this transaction acts for")
        texts = check_bodies(draft, bodies)
        end = self._end()
        moment = max(format_timestamp(self._session.clock.now()), end.ts)
        try:
            sealed = seal(draft, log=end.origin, seq=end.size, ts=moment, prev=end.leaf)
        except VerificationError as error:
            raise InvalidInput("audit entry", str(error)) from error
        leaf = leaf_hash(sealed.data)
        self._insert(entry, seq=sealed.seq, leaf=leaf, entry=sealed.data, **search_columns(sealed))
        if texts:
            self._execute(KEEP_BODY, [{"seq": sealed.seq, **text} for text in texts])
        self._execute(ADVANCE, {"size": end.size + 1, "leaf": leaf, "ts": moment})
        return Appended(sealed.seq, leaf, parse_timestamp(moment))

    def get(self, seq: int) -> AuditRow | None:
        """Return one of this tenant's entries."""
        rows = self._execute(self._rows_of(entry).where(entry.c.seq == seq)).all()
        return next(_audit_rows(rows, self._bodies_of(rows)), None)

    def entries(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        """Return the hashed bytes of those of this tenant's entries that exist, by number."""
        mine = self._rows_of(entry).with_only_columns(entry.c.seq, entry.c.entry)
        return {row.seq: row.entry for row in self._execute(mine.where(entry.c.seq.in_(seqs)))}

    def list(self, which: AuditFilter, page: PageRequest) -> Page[AuditRow]:
        """List this tenant's entries, newest first."""
        matching = _filtered(self._rows_of(entry), which)
        total = self._execute(select(func.count()).select_from(matching.subquery())).scalar_one()
        before = cursors.position(page)
        query = matching if before is None else matching.where(entry.c.seq < before)
        rows = self._execute(query.order_by(entry.c.seq.desc()).limit(page.limit + 1)).all()
        cut = cursors.cut(rows, page, total, lambda row: int(row.seq))
        found = _audit_rows(cut.items, self._bodies_of(cut.items))
        return Page(tuple(found), cut.next_cursor, cut.total)

    def head(self) -> Head:
        """Return the end of the whole log."""
        end = self._end()
        return Head(size=end.size, leaf=end.leaf, origin=end.origin)

    def scan(self) -> Iterator[AuditRow]:
        """Go through the whole log in order."""
        rows = self._execute(SCAN, {"last": BEFORE_ALL}).all()
        while rows:
            ends = {"first": rows[0].seq, "last": rows[-1].seq}
            yield from _audit_rows(rows, stored_bodies(self._execute(BODIES, ends)))
            rows = self._execute(SCAN, {"last": rows[-1].seq}).all()

    def file_state(self) -> FileState:
        """Ask SQLite to check the file, and list the triggers."""
        found = self._texts("PRAGMA integrity_check")
        problems = () if found == ("ok",) else found
        orphans = tuple(
            f"foreign key: {table}" for table in self._texts("PRAGMA foreign_key_check")
        )
        names = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        rows = self._session.connection.exec_driver_sql(names)
        return FileState(problems + orphans, {row[0]: row[1] for row in rows}, AUDIT_TRIGGERS)

    def _end(self) -> Row[Any]:
        row = self._execute(END).one_or_none()
        if row is None:
            raise ReadOnly("database", "the audit log has no head; run verify")
        return row

    def _bodies_of(self, rows: Sequence[Row[Any]]) -> Bodies:
        if not rows:
            return {}
        return stored_bodies(
            self._execute(select(body).where(body.c.seq.in_([row.seq for row in rows])))
        )

    def _texts(self, statement: str) -> tuple[str, ...]:
        with domain_errors():
            result = self._session.connection.exec_driver_sql(statement)
            return tuple(str(row[0]) for row in result)


def _audit_rows(rows: Sequence[Sequence[Any]], bodies: Bodies) -> Iterator[AuditRow]:
    for seq, tenant, ts, kind, subject, verdict, decision_id, leaf, data in rows:
        columns = {
            "tenant": tenant,
            "ts": ts,
            "kind": kind,
            "subject": subject,
            "verdict": verdict,
            "decision_id": decision_id,
        }
        yield AuditRow(seq, data, leaf, bodies.get(seq, {}), columns)


def _filtered(query: Select[Any], which: AuditFilter) -> Select[Any]:
    exact = {"subject": which.subject_id, "verdict": which.verdict, "kind": which.action}
    for name, value in exact.items():
        if value is not None:
            query = query.where(entry.c[name] == value)
    if which.since is not None:
        query = query.where(entry.c.ts >= format_timestamp(which.since))
    if which.until is not None:
        query = query.where(entry.c.ts < format_timestamp(which.until))
    return query

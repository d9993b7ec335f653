"""The audit log in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, Table, bindparam, func, insert, literal_column, select, update

from migrations.triggers import AUDIT_TRIGGERS
from service.adapters.db import cursors
from service.adapters.db.errors import ENDLESS, domain_errors
from service.adapters.db.listed import json_list, listed
from service.adapters.db.prepared import Prepared
from service.adapters.db.recorded import SqlRecorded
from service.adapters.db.repository import Repository, Session
from service.adapters.db.sealing import (
    Bodies,
    check_bodies,
    encrypted,
    stored_bodies,
    stored_bytes,
)
from service.adapters.db.tables import body, entry, head
from service.adapters.db.tree import SqlTree
from service.audit.chain import leaf_hash, search_columns
from service.audit.entry import EntryDraft, format_timestamp, parse_timestamp, seal
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow, Body, FileState, Head
from service.audit.tree import root_hash
from service.domain.errors import Damaged, InvalidInput, ReadOnly
from service.ports.storage import Appended, AuditFilter, Page, PageRequest
from service.ports.subject_keys import SubjectRef

SCAN_ROWS = 1_000
BEFORE_ALL = -(2**63)  # also before numbers that only a forger would use
END = Prepared(select(head))
HEAD_TYPES = [int, str, int, str, str]
HEX_HASH = re.compile("[0-9a-f]{64}")
ADVANCE = Prepared(update(head).where(head.c.id == literal_column("1")), "size", "leaf", "ts")
KEEP_ENTRY = Prepared(insert(entry), *entry.c.keys())
KEEP_BODY = Prepared(insert(body), *body.c.keys())
ENTRIES = Prepared(
    select(entry.c.seq, entry.c.entry).where(
        entry.c.tenant == bindparam("tenant"), entry.c.seq.in_(listed("seqs"))
    )
)


def _untyped(table: Table) -> Select[Any]:
    """Select columns as the driver gives them: a long log is read in two thirds of the time."""
    columns: list[Any] = [literal_column(name) for name in table.c.keys()]  # noqa: SIM118 - no dict
    return select(*columns).select_from(table)


AFTER = _untyped(entry).where(entry.c.seq > bindparam("last"))
SCAN = AFTER.order_by(entry.c.seq).limit(SCAN_ROWS)
BODIES = _untyped(body).where(body.c.seq.between(bindparam("first"), bindparam("last")))


class SqlAudit(Repository):
    """Implements ``AuditStore``."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tree = SqlTree(session)
        self._recorded = SqlRecorded(session)
        self._known: Head | None = None  # within one transaction nobody else moves it

    def open_log(self, origin: str, leaf: str) -> None:
        """Make the head of a log that has no entries; ``leaf`` is its genesis hash."""
        self._execute(insert(head).values(id=1, origin=origin, size=0, leaf=leaf, ts=""))
        self._known = None

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
        end = self.head()
        moment = max(format_timestamp(self._session.clock.now()), end.ts or "")
        try:
            sealed = seal(draft, log=end.origin, seq=end.size, ts=moment, prev=end.leaf)
        except VerificationError as error:
            raise InvalidInput("audit entry", str(error)) from error
        leaf = leaf_hash(sealed.data)
        row = {"seq": sealed.seq, "leaf": leaf, "entry": sealed.data, **search_columns(sealed)}
        connection = self._session.connection
        KEEP_ENTRY.run(connection, row | {"tenant": self._session.scope.tenant})
        who = None if draft.subject is None else self._session.whose(draft.subject)
        if texts:
            rows = encrypted(texts, self._session.keys, who, sealed.seq)
            KEEP_BODY.run_many(connection, rows)
        self._tree.grow(sealed.seq, leaf, end.leaf)
        ADVANCE.run(connection, {"size": end.size + 1, "leaf": leaf, "ts": moment})
        self._known = Head(size=end.size + 1, leaf=leaf, origin=end.origin, ts=moment)
        checkpoint = self._session.checkpoint()
        return Appended(sealed.seq, leaf, parse_timestamp(moment), checkpoint)

    def get(self, seq: int) -> AuditRow | None:
        """Return one of this tenant's entries."""
        rows = self._execute(self._rows_of(entry).where(entry.c.seq == seq)).all()
        return next(_audit_rows(rows, self._bodies_of(rows)), None)

    def entries(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        """Return the hashed bytes of those of this tenant's entries that exist, by number."""
        return dict(self._tuples(ENTRIES, seqs=json_list(seqs)))

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

    def after(self, which: AuditFilter, seq: int, limit: int) -> Sequence[AuditRow]:
        """Return this tenant's next entries after number ``seq``, in order."""
        query = _filtered(self._rows_of(entry), which).where(entry.c.seq > seq)
        rows = self._execute(query.order_by(entry.c.seq).limit(limit)).all()
        return tuple(_audit_rows(rows, self._bodies_of(rows)))

    def head(self) -> Head:
        """Return the end of the whole log."""
        if self._known is None:
            end = self._end()
            self._known = Head(size=end.size, leaf=end.leaf, origin=end.origin, ts=end.ts)
        return self._known

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree of the Merkle tree."""
        return self._tree.node(level, index)

    def root(self, size: int | None = None) -> bytes:
        """Return the root of the tree over the first ``size`` entries."""
        end = self.head().size
        if size is not None and not 0 <= size <= end:
            raise InvalidInput("size", f"must be between 0 and {end}")
        return root_hash(end if size is None else size, self._tree.node)

    def nodes(self, level: int) -> Iterator[tuple[int, bytes]]:
        """Go through what is stored of one level of the tree, by index."""
        return self._tree.nodes(level)

    def levels(self) -> tuple[int, ...]:
        """Return the levels of the tree of which anything is stored."""
        return self._tree.levels()

    def scan(self) -> Iterator[AuditRow]:
        """Go through the whole log in order."""
        last = BEFORE_ALL
        while rows := self._all(SCAN, {"last": last}):
            if rows[-1].seq <= last:
                raise Damaged("database", ENDLESS)
            ends = {"first": rows[0].seq, "last": rows[-1].seq}
            yield from _audit_rows(rows, self._read(rows, self._all(BODIES, ends)))
            last = rows[-1].seq

    def tables(self) -> SqlRecorded:
        """Return the business tables of every tenant."""
        return self._recorded

    def file_state(self) -> FileState:
        """Ask SQLite to check the file, and list the triggers."""
        found = self._raw("PRAGMA integrity_check")
        problems = [str(row[0]) for row in found if row[0] != "ok"]
        orphans = [f"foreign key: {row[0]}" for row in self._raw("PRAGMA foreign_key_check")]
        rows = self._raw("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        triggers = {str(row.name): str(row.sql) for row in rows}
        return FileState((*problems, *orphans), triggers, AUDIT_TRIGGERS)

    def _end(self) -> Any:  # noqa: ANN401 - the row of the head
        rows = END.rows(self._session.connection, {})
        if not rows:
            raise ReadOnly("database", "the audit log has no head; run verify")
        row = rows[0]
        if len(rows) > 1 or not _is_head(row):
            raise ReadOnly("database", "the head of the audit log is damaged; run verify")
        return row

    def _bodies_of(self, rows: Sequence[Row[Any]]) -> Bodies:
        if not rows:
            return {}
        wanted = select(body).where(body.c.seq.in_([row.seq for row in rows]))
        return self._read(rows, self._execute(wanted))

    def _read(self, rows: Sequence[Row[Any]], bodies: Iterable[Sequence[Any]]) -> Bodies:
        keys = self._session.keys
        named = rows if keys is not None else ()
        owners = {
            row.seq: SubjectRef(row.tenant, row.subject)
            for row in named
            if _is_name(row.tenant) and _is_name(row.subject)
        }
        return stored_bodies(bodies, owners, keys)

    def _raw(self, statement: str) -> Sequence[Row[Any]]:
        with domain_errors():
            return self._session.connection.exec_driver_sql(statement).all()


def _is_head(row: Row[Any]) -> bool:
    if row.id != 1 or [type(value) for value in row] != HEAD_TYPES:
        return False
    return row.origin.isascii() and HEX_HASH.fullmatch(row.leaf) is not None


def _is_name(value: object) -> bool:
    """Return whether a column holds what an entry can: a damaged file can hold anything."""
    return isinstance(value, str) and value.isascii()


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
        yield AuditRow(seq, stored_bytes(data), leaf, bodies.get(seq, {}), columns)


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

"""Receipts of recalls in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    delete,
    func,
    select,
)

from service.adapters.db.columns import from_json, required_stamp, to_json
from service.adapters.db.memory_tables import memories
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.adapters.db.tables import entry, metadata
from service.audit.entry import parse_timestamp
from service.ports.receipts import ReceiptRecord

receipts = Table(
    "receipt",
    metadata,
    Column("position", Integer, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("subject_id", Text),
    Column("body", Text, nullable=False),
    Column("memory_ids", Text, nullable=False),
    Column("recorded_at", Text, nullable=False),
    UniqueConstraint("tenant", "id"),
    ForeignKeyConstraint(["tenant", "subject_id"], ["subject.tenant", "subject.id"]),
)


LAST_ENTRY = Prepared(
    select(func.max(entry.c.seq).label("seq")).where(
        entry.c.tenant == bindparam("tenant"), entry.c.subject == bindparam("subject_id")
    )
)
LATER_ENTRIES = Prepared(
    select(entry.c.entry)
    .where(
        entry.c.tenant == bindparam("tenant"),
        entry.c.subject == bindparam("subject_id"),
        entry.c.seq > bindparam("after"),
    )
    .order_by(entry.c.seq)
)
COUNT = Prepared(
    select(func.count().label("size")).where(
        memories.c.tenant == bindparam("tenant"), memories.c.subject_id == bindparam("subject_id")
    )
)


class SqlReceipts(Repository):
    """Implements ``ReceiptStore``."""

    def add(self, record: ReceiptRecord) -> None:
        """Store a receipt; raises ``Conflict`` when the id exists."""
        if record.subject_id is not None:
            self._session.whose(record.subject_id)
        self._add(
            "receipt",
            receipts,
            id=record.id,
            subject_id=record.subject_id,
            body=record.body,
            memory_ids=to_json(list(record.memory_ids)),
            recorded_at=required_stamp(record.recorded_at),
        )

    def get(self, receipt_id: str) -> ReceiptRecord | None:
        """Return one receipt of this tenant."""
        query = self._rows_of(receipts).where(receipts.c.id == receipt_id)
        row = self._execute(query).one_or_none()
        if row is None:
            return None
        ids, at = tuple(from_json(row.memory_ids)), parse_timestamp(row.recorded_at)
        return ReceiptRecord(row.id, row.subject_id, row.body, ids, at)

    def forget(self, subject_id: str, memory_ids: Sequence[str] | None = None) -> int:
        """Delete a user's receipts, all or those that name a memory; return how many."""
        gone = delete(receipts).where(self._mine(receipts), receipts.c.subject_id == subject_id)
        if memory_ids is None:
            return self._execute(gone).rowcount
        named = func.json_each(receipts.c.memory_ids).table_valued("value")
        wanted = func.json_each(to_json(list(memory_ids))).table_valued("value")
        inside = select(named.c.value).where(named.c.value.in_(select(wanted.c.value)))
        return self._execute(gone.where(inside.exists())).rowcount

    def revision(self, subject_id: str) -> int:
        """Return the last entry about a user, −1 without any."""
        last = self._one(LAST_ENTRY, subject_id=subject_id)
        return -1 if last is None or last.seq is None else int(last.seq)

    def changed(self, subject_id: str, after: int) -> Sequence[str]:
        """Return the memories that entries after this one name, each once, oldest first."""
        rows = self._tuples(LATER_ENTRIES, subject_id=subject_id, after=after)
        named = (name for (row,) in rows for name in from_json(row).get("memory", ()))
        return list(dict.fromkeys(name for name in named if name.startswith("mem_")))

    def count(self, subject_id: str) -> int:
        """Return how many memories of any status a user has."""
        return int(self._one(COUNT, subject_id=subject_id).size)

    def leaf(self, seq: int) -> str | None:
        """Return the leaf hash of an entry of the whole log."""
        found = self._execute(select(entry.c.leaf).where(entry.c.seq == seq))
        leaf: str | None = found.scalar_one_or_none()
        return leaf

    def erased_since(self, subject_id: str, size: int) -> bool:
        """Return whether anything of a user was erased after the log had this size."""
        query = select(entry.c.seq).where(self._mine(entry), entry.c.subject == subject_id)
        late = query.where(entry.c.kind == "erasure.done", entry.c.seq >= size)
        return self._execute(late.limit(1)).first() is not None

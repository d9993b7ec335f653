"""The Merkle tree over the log: the complete subtrees above its leaves (RFC 6962, section 2.1)."""

import hashlib
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from migrations.triggers import TREE_TRIGGERS

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

BATCH = 10_000


def upgrade() -> None:
    node = op.create_table(
        "node",
        sa.Column("level", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    waiting: list[dict[str, object]] = []
    for found in subtrees(leaves()):
        waiting.append(found)
        if len(waiting) == BATCH:
            op.bulk_insert(node, waiting)
            waiting = []
    op.bulk_insert(node, waiting)
    if op.get_context().dialect.name == "sqlite":
        for statement in TREE_TRIGGERS.values():
            op.execute(statement)


def leaves() -> Iterator[bytes]:
    """Hash what is stored; where an entry is missing the tree stops, for verify to report it."""
    entry = sa.table("entry", sa.column("seq"), sa.column("entry"))
    connection, start = op.get_bind(), 0
    while True:
        query = sa.select(entry).where(entry.c.seq >= start).order_by(entry.c.seq).limit(BATCH)
        rows = connection.execute(query).all()
        for expected, row in enumerate(rows, start):
            if row.seq != expected:
                return
            yield hashlib.sha256(b"\x00" + row.entry).digest()
        if len(rows) < BATCH:
            return
        start += BATCH


def subtrees(hashes: Iterator[bytes]) -> Iterator[dict[str, object]]:
    peaks: list[bytes] = []
    for seq, leaf in enumerate(hashes):
        current, level = leaf, 0
        while seq >> level & 1:
            level += 1
            current = hashlib.sha256(b"\x01" + peaks.pop() + current).digest()
            yield {"level": level, "position": seq >> level, "hash": current}
        peaks.append(current)

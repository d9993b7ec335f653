"""The Merkle tree over the log in SQL: complete subtrees, level 1 and up; leaves are the entries'.

A subtree is written with the entry that completes it and never changes: half of all entries
complete none, and one entry completes about one on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sqlalchemy import bindparam, insert, literal_column, select, union_all

from service.adapters.db.errors import DEPENDENCY, ENDLESS
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.adapters.db.tables import entry, node
from service.audit.tree import HASH_BYTES, completed, node_hash
from service.domain.errors import Damaged, ReadOnly, Unavailable

PAGE_ROWS = 2_000
COLUMNS = ("level", "position", "hash")
KEEP = Prepared(insert(node), *COLUMNS)
ONE = select(node.c.hash).where(
    node.c.level == bindparam("level"), node.c.position == bindparam("position")
)
LEAF = select(entry.c.leaf).where(entry.c.seq == bindparam("position"))
PAGE = (
    select(node.c.position, node.c.hash)
    .where(node.c.level == bindparam("level"), node.c.position > bindparam("last"))
    .order_by(node.c.position)
    .limit(PAGE_ROWS)
)
LEVELS = select(node.c.level).distinct().order_by(node.c.level)


class SqlTree(Repository):
    """The tree's part of the audit log."""

    def grow(self, seq: int, leaf: str, before: str) -> None:
        """Write the subtrees that leaf ``seq`` completes; ``before`` is the leaf in front of it."""
        done = completed(seq)
        made: list[tuple[int, int, bytes]] = []
        if done:
            lefts = [bytes.fromhex(before), *self._lefts(seq, before, len(done) - 1)]
            current = bytes.fromhex(leaf)
            for (level, index), left in zip(done, lefts, strict=True):
                current = node_hash(left, current)
                made.append((level, index, current))
            rows = [dict(zip(COLUMNS, row, strict=True)) for row in made]
            KEEP.run_many(self._session.connection, rows)
        self._session.edge.move(before, leaf, made)

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree; level 0 is a leaf hash."""
        query = ONE if level else LEAF
        found = self._execute(query, {"level": level, "position": index}).scalar_one_or_none()
        value = _leaf(found) if level == 0 else found
        if not isinstance(value, bytes) or len(value) != HASH_BYTES:
            raise Unavailable(
                DEPENDENCY, f"the audit log's tree lacks node {level}/{index}; run verify"
            )
        return value

    def nodes(self, level: int) -> Iterator[tuple[int, bytes]]:
        """Go through what is stored of one level, by index."""
        last = -(2**63)
        while rows := self._all(PAGE, {"level": level, "last": last}):
            position = _number(rows[-1].position)
            if position <= last:
                raise Damaged(DEPENDENCY, ENDLESS)
            yield from map(tuple, rows)
            last = position

    def levels(self) -> tuple[int, ...]:
        """Return the levels of which anything is stored."""
        return tuple(_number(row.level) for row in self._all(LEVELS))

    def _lefts(self, seq: int, before: str, levels: int) -> list[bytes]:
        """Return the left neighbours, from level 1 up, of what ``seq`` completes there."""
        edge = self._session.edge
        known = [edge.find(before, n, (seq >> n) - 1) for n in range(1, levels + 1)]
        found = [value for value in known if value is not None]
        if len(found) == levels:
            return found
        wanted = {f"at_{level}": (seq >> level) - 1 for level in range(1, levels + 1)}
        rows = _lefts_query(levels).rows(self._session.connection, wanted)
        if len(rows) != levels:
            raise ReadOnly(DEPENDENCY, "the tree of the audit log is damaged; run verify")
        return [row.hash for row in sorted(rows)]


@cache
def _lefts_query(levels: int) -> Prepared:
    parts = [
        select(node.c.level, node.c.hash).where(
            node.c.level == literal_column(str(level)),
            node.c.position == bindparam(f"at_{level}"),
        )
        for level in range(1, levels + 1)
    ]
    return Prepared(union_all(*parts) if levels > 1 else parts[0])


def _number(value: object) -> int:
    if isinstance(value, int):
        return value
    raise Damaged(DEPENDENCY, "the audit log's tree has a place that is no number")


def _leaf(text: object) -> bytes | None:
    try:
        return bytes.fromhex(text) if isinstance(text, str) else None
    except ValueError:
        return None

"""The right edge of the log's Merkle tree, remembered between transactions.

An entry that completes subtrees needs the hashes of their left neighbours, and those were nearly
always written by the entries just before it. What is remembered holds for one end of the log only:
the transaction asks with the end that it read, so that after a rollback, or after somebody else
wrote, nothing is known and the tables are asked.
"""

from __future__ import annotations


class Edge:
    """The last subtree of each level; one thread at a time, that of the writer, uses it."""

    __slots__ = ("_end", "_last")

    def __init__(self) -> None:
        self._end = ""
        self._last: dict[int, tuple[int, bytes]] = {}

    def find(self, end: str, level: int, index: int) -> bytes | None:
        """Return a subtree's hash, if it is known for a log whose last leaf is ``end``."""
        known, value = self._last.get(level, (-1, b""))
        return value if end == self._end and known == index else None

    def move(self, before: str, end: str, done: list[tuple[int, int, bytes]]) -> None:
        """Follow one entry: the last leaf before it, its own, the (level, index, hash) it made."""
        if before != self._end:
            self._last.clear()
        self._end = end
        for level, index, value in done:
            self._last[level] = (index, value)

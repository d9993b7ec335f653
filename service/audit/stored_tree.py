"""The tree rebuilt from the entries, against what is stored of it and against checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.audit.notes import Checkpoint
from service.audit.rows import TreeRows
from service.audit.tree import TreeBuilder

_END = (-1, b"")


class TreeCheck:
    """Feed it the leaf hash of every row in order, then ``finish``.

    ``wrong`` counts stored subtrees that are not those of the entries, ``first_wrong`` names one.
    A gap between the entries ends the tree: what is after it has no place in one.
    """

    def __init__(self, stored: TreeRows | None, sizes: Iterable[int]) -> None:
        self.wrong = 0
        self.first_wrong = ""
        self.roots: dict[int, bytes] = {}
        self._builder = TreeBuilder()
        self._sizes = frozenset(sizes)
        self._stored = stored
        self._levels: dict[int, Iterator[tuple[int, bytes]]] = {}
        self._whole = True
        self._keep_root()

    @property
    def size(self) -> int:
        """Return how many entries the tree has."""
        return self._builder.size

    def root(self) -> bytes:
        """Return the root over the entries so far."""
        return self._builder.root()

    def feed(self, seq: int, leaf: bytes) -> None:
        """Add the leaf of one row."""
        self._whole = self._whole and seq == self._builder.size
        if not self._whole:
            return
        done = self._builder.add(leaf)
        if self._stored is not None:
            for level, index, value in done:
                self._compare(self._stored, level, index, value)
        if self._builder.size in self._sizes:
            self._keep_root()

    def finish(self) -> None:
        """Find what is stored beyond the entries."""
        if self._stored is None:
            return
        for level in self._stored.levels():
            rest = self._levels.get(level) or self._stored.nodes(level)
            for index, _ in rest:
                self._note(level, index)

    def fault(self, checkpoint: Checkpoint) -> str | None:
        """Return what contradicts a checkpoint of this log, or ``None`` if it fits."""
        if checkpoint.size > self.size:
            return (
                f"it is of {checkpoint.size} entries and only the first {self.size} are there: "
                "the log was cut, or is an earlier state that was put back"
            )
        if self.roots.get(checkpoint.size) != checkpoint.root:
            return f"the first {checkpoint.size} entries are not the ones that were signed"
        return None

    def _compare(self, stored: TreeRows, level: int, index: int, value: bytes) -> None:
        if level not in self._levels:
            self._levels[level] = iter(stored.nodes(level))
        if next(self._levels[level], _END) != (index, value):
            self._note(level, index)

    def _note(self, level: int, index: int) -> None:
        self.wrong += 1
        self.first_wrong = self.first_wrong or f"{level}/{index}"

    def _keep_root(self) -> None:
        self.roots[self._builder.size] = self._builder.root()

"""Verifying a log, level by level.

0  the file is whole and the triggers that stop accidents are there;
1  the chain: every entry is canonical, in its place, and linked from the genesis to the head;
2  the tree: every stored subtree is that of the entries, and the log fits its stored checkpoints;
3  the log fits checkpoints that were held elsewhere;
4  every text opens its commitment, and a missing one was erased on the record;
5  the business tables say what the log says.

Without level 3, whoever can write to the database can recompute the log from any point to its end,
or cut it and fix the head; every report says so. The name of the log, the checkpoints (already
opened with the verifier's keys) and their sizes come from the verifier, never from the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.audit.bodies import BodyCheck
from service.audit.chain import ChainCheck
from service.audit.erasures import Erasures
from service.audit.levels import LEVELS, NO_BODIES, body_level, chain_level, file_level
from service.audit.notes import Checkpoint
from service.audit.report import (
    Compared,
    Level,
    Report,
    level,
    not_excluded,
    statements,
    unchecked,
)
from service.audit.rows import AuditRow, BusinessRows, FileState, Head, TreeRows
from service.audit.stored_tree import TreeCheck
from service.audit.tables import TableCheck

__all__ = ["Anchors", "Level", "Report", "Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Anchors:
    """Checkpoints to compare with, opened with keys that the verifier brought.

    ``outside`` were held elsewhere, ``stored`` are kept with the log. ``faults`` are stored ones
    that do not open, in words; ``unopened`` says why stored ones could not be looked at.
    """

    outside: Sequence[Checkpoint] = ()
    stored: Sequence[Checkpoint] = ()
    faults: tuple[str, ...] = ()
    unopened: str | None = None


class Verification:
    """Feed it every row in order, ``finish``, then ask for the report."""

    def __init__(
        self,
        origin: str,
        *,
        anchors: Anchors | None = None,
        tree: TreeRows | None = None,
        tables: BusinessRows | None = None,
        with_bodies: bool = True,
    ) -> None:
        self._origin = origin
        self._with_bodies = with_bodies
        self._anchors = anchors or Anchors()
        self._has_tree = tree is not None
        self._has_head = False
        erasures = self._erasures = Erasures()
        self._chain = ChainCheck(origin)
        sizes = [c.size for c in (*self._anchors.outside, *self._anchors.stored)]
        self._tree = TreeCheck(tree, sizes)
        self._bodies = BodyCheck(erasures)
        self._tables = None if tables is None else TableCheck(tables, erasures)

    def feed(self, row: AuditRow) -> None:
        """Check one row."""
        entry = self._chain.feed(row)
        self._tree.feed(row.seq, self._chain.leaf)
        if entry is None:
            return
        self._erasures.feed(row.seq, entry)
        if self._with_bodies:
            self._bodies.feed(row.seq, entry, row.bodies)
        if self._tables is not None:
            self._tables.feed(row.seq, entry)

    def finish(self, head: Head | None) -> None:
        """Look at what is left; an export has no ``head``."""
        self._has_head = head is not None
        self._chain.finish(head)
        self._tree.finish()
        self._bodies.finish()
        if self._tables is not None:
            self._tables.finish()

    def report(self, file: FileState | None) -> Report:
        """Return the outcome; an export has no ``file``, and the report says so."""
        chain, bodies = self._chain, self._bodies
        broken = chain.broken.keys() | bodies.broken.keys()
        compromised = chain.compromised - broken
        levels = (
            file_level(file),
            chain_level(chain, has_head=self._has_head),
            self._tree_level(),
            self._outside_level(),
            body_level(bodies) if self._with_bodies else unchecked(4, LEVELS[4], NO_BODIES),
            self._table_level(),
        )
        covered = self._fitting(self._anchors.outside)
        return Report(
            ok=not any(found.ok is False for found in levels),
            total=chain.total,
            verified=chain.total - len(broken) - len(compromised),
            broken_at=tuple(sorted(broken)),
            compromised=tuple(sorted(compromised)),
            missing=tuple(sorted({*chain.missing, *bodies.missing})),
            reason=self._reason(levels),
            levels=levels,
            not_excluded=not_excluded(covered, chain.total),
            statements=statements(covered, chain.total, self._fitting(self._anchors.stored)),
            origin=self._origin,
            root=self._tree.root().hex(),
            covered=covered,
            checkpoint=self._compared(),
        )

    def _reason(self, levels: Sequence[Level]) -> str:
        found = {
            "chain_broken": bool(self._chain.broken),
            "entries_missing": bool(self._chain.missing),
            "head_mismatch": self._chain.head_fault is not None,
            "checkpoint_mismatch": levels[3].ok is False or bool(self._stored_faults()),
            "tree_mismatch": levels[2].ok is False,
            "body_changed": bool(self._bodies.broken),
            "body_missing": bool(self._bodies.missing),
            "tables_mismatch": levels[5].ok is False,
            "file_damaged": levels[0].ok is False,
        }
        return next((code for code, wrong in found.items() if wrong), "intact")

    def _tree_level(self) -> Level:
        problems = list(self._stored_faults())
        if self._tree.wrong:
            problems.append(
                f"{self._tree.wrong} stored subtrees are not those of the entries, the first is "
                f"{self._tree.first_wrong} (level/index)"
            )
        notes = [f"root of {self._tree.size} entries: {self._tree.root().hex()}"]
        if not self._has_tree:
            notes.append("no stored tree: it was rebuilt from the entries")
        unopened = self._anchors.unopened
        notes.extend([unopened] if unopened else [])
        return level(2, LEVELS[2], problems, *notes)

    def _stored_faults(self) -> tuple[str, ...]:
        found = (self._fault("stored", c) for c in self._anchors.stored)
        return (*self._anchors.faults, *filter(None, found))

    def _outside_level(self) -> Level:
        outside = self._anchors.outside
        if not outside:
            return unchecked(3, LEVELS[3], "none was given")
        problems = [f for c in outside if (f := self._fault("outside", c)) is not None]
        fitting = [f"fits the checkpoint of {c.size} entries" for c in outside if self._fits(c)]
        return level(3, LEVELS[3], problems, *fitting)

    def _table_level(self) -> Level:
        if self._tables is None:
            return unchecked(5, LEVELS[5], "there are no business tables here")
        return level(5, LEVELS[5], self._tables.problems)

    def _fits(self, checkpoint: Checkpoint) -> bool:
        return self._fault("", checkpoint) is None

    def _fault(self, where: str, checkpoint: Checkpoint) -> str | None:
        if checkpoint.origin != self._origin:
            return f"{where} checkpoint of {checkpoint.size}: it is of another log"
        fault = self._tree.fault(checkpoint)
        return None if fault is None else f"{where} checkpoint of {checkpoint.size}: {fault}"

    def _fitting(self, checkpoints: Sequence[Checkpoint]) -> int:
        """Return how many entries the newest checkpoint that fits vouches for."""
        return max((c.size for c in checkpoints if self._fits(c)), default=0)

    def _compared(self) -> Compared | None:
        outside = bool(self._anchors.outside)
        chosen = self._anchors.outside or self._anchors.stored
        if not chosen:
            return None
        newest = max(chosen, key=lambda c: c.size)
        return Compared(newest.size, newest.root.hex(), outside, self._fits(newest))


def verify(
    rows: Iterable[AuditRow],
    *,
    origin: str,
    head: Head | None,
    file: FileState | None = None,
    anchors: Anchors | None = None,
    tree: TreeRows | None = None,
    tables: BusinessRows | None = None,
) -> Report:
    """Verify a log that claims to be ``origin``, which the caller knows from elsewhere.

    ``rows`` are all entries in order of ``seq``. What is not given (an export has no head, no file
    and no tables) is reported as not checked.
    """
    verification = Verification(origin, anchors=anchors, tree=tree, tables=tables)
    for row in rows:
        verification.feed(row)
    verification.finish(head)
    return verification.report(file)

"""Verify the log of a database, whatever state its file is in: damage becomes part of the report.

Only a database that cannot be reached at all (not there, locked, not permitted) is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from service.audit.entry import parse_entry
from service.audit.errors import VerificationError
from service.audit.rows import (
    AuditRow,
    BusinessRows,
    DecisionRow,
    FileState,
    Head,
    StateRow,
    StepRow,
    TreeRows,
)
from service.audit.verify import Anchors, Report, Verification
from service.domain.errors import Damaged, ReadOnly
from service.ports.storage import Transaction

T = TypeVar("T")
ASSUMED_NAME = (
    "The name of the log was taken from the log itself: that this is another log altogether is "
    "NOT excluded. Give the name, or the key, you know it by."
)


def verify_log(
    tx: Transaction, origin: str | None = None, anchors: Anchors | None = None
) -> Report:
    """Verify the whole log; without ``origin`` the log's own word for its name is taken."""
    damage = _Damage()
    head = damage.head(tx)
    rows = damage.each(tx.audit.scan())
    first = next(rows, None)
    name = origin or (head.origin if head is not None else _name_in(first))
    verification = Verification(
        name,
        anchors=anchors,
        tree=_Tree(tx.audit, damage),
        tables=_Tables(tx.audit.tables(), damage),
    )
    for row in chain(() if first is None else (first,), rows):
        verification.feed(row)
    verification.finish(head)
    report = verification.report(damage.file(tx))
    return report if origin else replace(report, statements=(*report.statements, ASSUMED_NAME))


def unreadable(origin: str | None, why: str) -> Report:
    """Return the report on a file of which nothing could be read."""
    verification = Verification(origin or "")
    verification.finish(None)
    return verification.report(FileState((why,), {}, {}))


def verify_rows(
    rows: Iterable[AuditRow],
    origin: str | None,
    anchors: Anchors | None = None,
    *,
    with_bodies: bool = True,
) -> Report:
    """Verify rows that come without a database, as from an export; nothing raises.

    ``with_bodies`` tells whether texts were exported at all.
    """
    damage = _Damage()
    given = damage.each(rows)
    first = next(given, None)
    verification = Verification(origin or _name_in(first), anchors=anchors, with_bodies=with_bodies)
    for row in chain(() if first is None else (first,), given):
        verification.feed(row)
    verification.finish(None)
    found = damage.found
    report = verification.report(FileState(found, {}, {}) if found else None)
    return report if origin else replace(report, statements=(*report.statements, ASSUMED_NAME))


class _Damage:
    """Collects what could not be read."""

    def __init__(self) -> None:
        self._found: list[str] = []

    @property
    def found(self) -> tuple[str, ...]:
        """Return what was found so far."""
        return tuple(self._found)

    def each(self, rows: Iterable[T]) -> Iterator[T]:
        """Go through rows up to the first that cannot be read."""
        try:
            yield from rows
        except Damaged as error:
            self._found.append(f"reading stopped: {error.detail}")
        except VerificationError as error:
            self._found.append(f"reading stopped: {error}")

    def head(self, tx: Transaction) -> Head | None:
        """Return the head, if there is one."""
        try:
            return tx.audit.head()
        except (Damaged, ReadOnly) as error:
            self._found.append(error.detail)
            return None

    def file(self, tx: Transaction) -> FileState:
        """Return what the storage says about itself, and everything that was found."""
        try:
            state = tx.audit.file_state()
        except Damaged as error:
            return FileState((*self._found, error.detail), {}, {})
        return replace(state, problems=(*self._found, *state.problems))


class _Tree:
    """The stored tree, up to where it can be read."""

    def __init__(self, rows: TreeRows, damage: _Damage) -> None:
        self._rows = rows
        self._damage = damage

    def levels(self) -> tuple[int, ...]:
        return tuple(self._damage.each(_later(self._rows.levels)))

    def nodes(self, level: int) -> Iterator[tuple[int, bytes]]:
        return self._damage.each(self._rows.nodes(level))


class _Tables:
    """The business tables, up to where they can be read."""

    def __init__(self, rows: BusinessRows, damage: _Damage) -> None:
        self._rows = rows
        self._damage = damage

    def decisions(self) -> Iterator[DecisionRow]:
        return self._damage.each(self._rows.decisions())

    def steps(self) -> Iterator[StepRow]:
        return self._damage.each(self._rows.steps())

    def states(self) -> Iterator[StateRow]:
        return self._damage.each(self._rows.states())


def _later(read: Callable[[], Iterable[T]]) -> Iterator[T]:
    yield from read()


def _name_in(row: AuditRow | None) -> str:
    try:
        return "" if row is None else parse_entry(row.entry).log
    except VerificationError:
        return ""

"""Copying a database row by row into a new file, each row on its way through a function.

The new file never holds a row in another form than the function gave it: there is nothing to
overwrite and no free page with what was there before. Tables, indexes and triggers are the same;
triggers are made last, so that they do not fire. Every text is copied byte by byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from service.adapters.backup.columns import LEFT_OUT, PERSONAL, Personal, unclassified
from service.adapters.backup.sealing import DEPENDENCY
from service.adapters.db.engine import choose_driver
from service.domain.errors import Unavailable
from service.ports.subject_keys import SubjectRef

_NUMBERS: Final = frozenset({"INTEGER", "REAL"})
_AS_IS: Final = _NUMBERS | {"BLOB"}
_COUNTERS: Final = "sqlite_sequence"

Raw: TypeAlias = Any
"""A connection of the driver."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A table: its columns with their types, and whether they may be empty."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    required: tuple[bool, ...]
    has_rowid: bool
    places: Mapping[str, int]

    def at(self, column: str) -> int:
        """Return the place of a column in a row."""
        return self.places[column]

    def is_text(self, column: str) -> bool:
        """Return whether a column holds text, not bytes."""
        return self.types[self.at(column)] != "BLOB"

    def is_required(self, column: str) -> bool:
        """Return whether a column always holds a value."""
        return self.required[self.at(column)]


@dataclass(slots=True)
class Record:
    """One row of a user: its values as they are stored, to be changed in place."""

    layout: Layout
    personal: Personal
    who: SubjectRef
    values: list[Any]

    def __getitem__(self, column: str) -> Any:  # noqa: ANN401 - whatever a column holds
        """Return a value."""
        return self.values[self.layout.at(column)]

    def __setitem__(self, column: str, value: bytes | None) -> None:
        """Replace a value."""
        self.values[self.layout.at(column)] = value

    @property
    def name(self) -> tuple[str, ...]:
        """Return what names the row, as text."""
        return tuple(map(_text, map(self.__getitem__, self.personal.row)))


Change = Callable[[Record], None]


def copy_rows(source: Raw, target: Path, change: Change) -> dict[str, int]:
    """Copy what a connection sees into a new file; returns how many rows each table has there.

    ``source`` is within a transaction. Rows of users in tables with personal columns go through
    ``change``; tables that are left out are made, and stay empty.

    Raises:
        Unavailable: a column that nobody has decided about, or a file that cannot be written.
    """
    driver = choose_driver().module
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(driver.connect(str(target), isolation_level=None)) as made, _bytes(source):
            for pragma in ("journal_mode=OFF", "synchronous=OFF", "trusted_schema=OFF"):
                made.execute(f"PRAGMA {pragma}")
            made.execute("BEGIN")
            counts = _copy(source, made, change)
            made.execute("COMMIT")
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot write {target}: {error.strerror}") from error
    except driver.Error as error:
        raise Unavailable(DEPENDENCY, f"cannot copy the database: {error}") from error
    return counts


def layouts(source: Raw) -> tuple[Layout, ...]:
    """Return the tables of a database; raises ``Unavailable`` for one nobody has decided about."""
    with _bytes(source):
        rows = source.execute("PRAGMA table_list").fetchall()
        found = [(_text(row[1]), not row[4]) for row in rows if _text(row[0]) == "main"]
        ours = sorted((name, rowid) for name, rowid in found if not name.startswith("sqlite_"))
        return tuple(_layout(source, name, has_rowid=rowid) for name, rowid in ours)


def _layout(source: Raw, name: str, *, has_rowid: bool) -> Layout:
    rows = source.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
    columns, types = ([_text(row[i]) for row in rows] for i in (1, 2))
    textual = tuple(c for c, kind in zip(columns, types, strict=True) if kind not in _NUMBERS)
    strange = unclassified(name, textual)
    if strange:
        raise Unavailable(
            DEPENDENCY, f"nothing is known about {name}.{strange[0]}, which may be personal"
        )
    required = tuple(bool(row[3] or row[5]) for row in rows)
    places = {column: at for at, column in enumerate(columns)}
    return Layout(name, tuple(columns), tuple(types), required, has_rowid, places)


def _copy(source: Raw, made: Raw, change: Change) -> dict[str, int]:
    _make(source, made, "table")
    counts = {}
    for layout in layouts(source):
        rows = iter(()) if layout.name in LEFT_OUT else _rows(source, layout, change)
        counts[layout.name] = _insert(made, layout, rows)
    if source.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (_COUNTERS,)).fetchone():
        made.execute("DELETE FROM sqlite_sequence")
        counters = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        made.executemany("INSERT INTO sqlite_sequence VALUES (CAST(? AS TEXT), ?)", counters)
    for kind in ("index", "trigger"):
        _make(source, made, kind)
    return counts


def _make(source: Raw, made: Raw, kind: str) -> None:
    query = "SELECT name, sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY rowid"
    for name, statement in source.execute(query, (kind,)).fetchall():
        if _text(name) != _COUNTERS:
            made.execute(_text(statement))


def _rows(source: Raw, layout: Layout, change: Change) -> Iterator[list[Any]]:
    columns = [f"t.{_quoted(column)}" for column in layout.columns]
    table = ("FROM", _quoted(layout.name), "t")
    order = "ORDER BY t.rowid" if layout.has_rowid else ""
    personal = PERSONAL.get(layout.name)
    if personal is None:
        query = _sql("SELECT", ", ".join(columns), *table, order)
        yield from map(list, source.execute(query))
        return
    asked = ", ".join((personal.tenant, personal.owner, personal.kept_if, *columns))
    query = _sql("SELECT", asked, *table, personal.joined, order)
    for tenant, owner, keep, *values in source.execute(query):
        if not keep and owner is not None and tenant is not None:
            change(Record(layout, personal, SubjectRef(_text(tenant), _text(owner)), values))
        elif not (keep or personal.keep_unowned):
            continue
        yield values


def _insert(made: Raw, layout: Layout, rows: Iterator[list[Any]]) -> int:
    names = ", ".join(map(_quoted, layout.columns))
    slots = ", ".join("?" if kind in _AS_IS else "CAST(? AS TEXT)" for kind in layout.types)
    table = _quoted(layout.name)
    made.executemany(_sql("INSERT INTO", table, f"({names}) VALUES ({slots})"), rows)
    return int(made.execute(_sql("SELECT count(*) FROM", table)).fetchone()[0])


def _sql(*parts: str) -> str:
    return " ".join(parts)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _text(value: object) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


@contextmanager
def _bytes(source: Raw) -> Iterator[None]:
    """Let texts be read as the bytes they are stored as."""
    before, source.text_factory = source.text_factory, bytes
    try:
        yield
    finally:
        source.text_factory = before

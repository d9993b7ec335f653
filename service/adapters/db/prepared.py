"""Statements that are compiled once, for those that every write and every recall runs.

SQLAlchemy Core looks a statement up in its cache and prepares parameters, events and result types
on each call, which costs several times what SQLite takes. Here values go to the driver as they are,
on the same connection and in the same transaction; errors are the same as SQLAlchemy's.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql import ClauseElement

from service.adapters.db.errors import domain_errors


class Prepared:
    """One statement; ``names`` are the parameters it takes; one not given is NULL."""

    def __init__(self, statement: ClauseElement, *names: str) -> None:
        self._statement = statement
        self._names = names
        self._text: str | None = None
        self._order: tuple[str, ...] = ()
        self._row: Callable[[Sequence[Any]], Any] | None = None

    def run(self, connection: Connection, values: Mapping[str, Any]) -> None:
        """Run it once for what it changes."""
        with domain_errors():
            self.run_bare(connection, values)

    def run_bare(self, connection: Connection, values: Mapping[str, Any]) -> None:
        """Run it once, and let SQLAlchemy's errors through."""
        text = self._compiled(connection)
        execute(connection, text, tuple(map(values.get, self._order)))

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each of at least one rows."""
        text = self._compiled(connection)
        with domain_errors():
            execute(connection, text, [tuple(map(row.get, self._order)) for row in rows], many=True)

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Any]:
        """Return what it finds, as tuples with the names of its columns."""
        text = self._compiled(connection)
        with domain_errors():
            cursor = execute(connection, text, tuple(map(values.get, self._order)))
            found = cursor.fetchall()
        if self._row is None:
            named: Any = namedtuple
            self._row = named("Found", [column[0] for column in cursor.description])._make
        return list(map(self._row, found))

    def _compiled(self, connection: Connection) -> str:
        if self._text is None:
            compiled: Any = self._statement.compile(
                dialect=connection.dialect, column_keys=list(self._names)
            )
            self._order = tuple(compiled.positiontup)
            self._text = str(compiled)
        return self._text


def execute(connection: Connection, text: str, values: Any, *, many: bool = False) -> Any:  # noqa: ANN401 - the driver's
    """Run a statement on SQLAlchemy's connection, past its layers; return the driver's cursor."""
    driver = connection.dialect.dbapi
    error_type: Any = driver.Error if driver is not None else Exception
    cursor: Any = connection.connection.cursor()
    try:
        return cursor.executemany(text, values) if many else cursor.execute(text, values)
    except error_type as error:
        raise DBAPIError.instance(
            text, None, error, error_type, hide_parameters=True, dialect=connection.dialect
        ) from error

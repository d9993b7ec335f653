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

_UNDECODABLE = "Could not decode to UTF-8"  # what the driver says of a damaged text


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
        text = self._text or self._compiled(connection)
        with domain_errors():
            execute(connection, text, tuple(map(values.get, self._order)))

    def run_bare(self, connection: Connection, values: Mapping[str, Any]) -> None:
        """Run it once, and let SQLAlchemy's errors through."""
        text = self._text or self._compiled(connection)
        execute(connection, text, tuple(map(values.get, self._order)))

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each of at least one rows."""
        text = self._text or self._compiled(connection)
        with domain_errors():
            execute(connection, text, [tuple(map(row.get, self._order)) for row in rows], many=True)

    def tuples(
        self, connection: Connection, values: Mapping[str, Any]
    ) -> Sequence[tuple[Any, ...]]:
        """Return what it finds as the driver gives it, for thousands of rows."""
        return self._fetched(connection, values)[1]

    def rows(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Any]:
        """Return what it finds, as tuples with the names of its columns."""
        cursor, found = self._fetched(connection, values)
        if self._row is None:
            named: Any = namedtuple
            self._row = named("Found", [column[0] for column in cursor.description])._make
        return list(map(self._row, found))

    def _fetched(
        self, connection: Connection, values: Mapping[str, Any]
    ) -> tuple[Any, list[tuple[Any, ...]]]:
        text = self._text or self._compiled(connection)
        given = tuple(map(values.get, self._order))
        driver: Any = connection.connection.dbapi_connection
        careful = driver.text_factory
        with domain_errors():
            driver.text_factory = str  # calls nothing for each text
            try:
                return _found(connection, text, given)
            except DBAPIError as error:
                if not str(error.orig).startswith(_UNDECODABLE):
                    raise
            finally:
                driver.text_factory = careful
            return _found(connection, text, given)

    def _compiled(self, connection: Connection) -> str:
        compiled: Any = self._statement.compile(
            dialect=connection.dialect, column_keys=list(self._names)
        )
        self._order = tuple(compiled.positiontup)
        self._text = str(compiled)  # last: whoever sees it uses the order too
        return self._text


def execute(connection: Connection, text: str, values: Any = (), *, many: bool = False) -> Any:  # noqa: ANN401 - the driver's
    """Run a statement on SQLAlchemy's connection, past its layers; return the driver's cursor."""
    driver: Any = connection.connection.dbapi_connection
    try:
        return driver.executemany(text, values) if many else driver.execute(text, values)
    except _error_type(connection) as error:
        raise _translated(connection, text, error) from error


def _found(connection: Connection, text: str, values: Any) -> tuple[Any, list[tuple[Any, ...]]]:  # noqa: ANN401 - the driver's
    cursor = execute(connection, text, values)
    try:
        return cursor, cursor.fetchall()
    except _error_type(connection) as error:  # damage can show on any row
        raise _translated(connection, text, error) from error


def _error_type(connection: Connection) -> Any:  # noqa: ANN401 - the driver's base class of errors
    module = connection.dialect.dbapi
    return module.Error if module is not None else Exception


def _translated(connection: Connection, text: str, error: Exception) -> BaseException:
    return DBAPIError.instance(
        text,
        None,
        error,
        _error_type(connection),
        hide_parameters=True,
        dialect=connection.dialect,
    )

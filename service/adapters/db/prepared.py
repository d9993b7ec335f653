"""Statements that are compiled once, for those that every write runs.

SQLAlchemy Core looks a statement up in its cache and prepares parameters and result types on each
call, which costs more than SQLite does. Values go to the driver as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult
from sqlalchemy.sql import ClauseElement

from service.adapters.db.errors import domain_errors


class Prepared:
    """One statement; ``names`` are the parameters it takes; one not given is NULL."""

    def __init__(self, statement: ClauseElement, *names: str) -> None:
        self._statement = statement
        self._names = names
        self._text: str | None = None
        self._order: tuple[str, ...] = ()

    def run(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        """Run it once."""
        with domain_errors():
            return self.run_bare(connection, values)

    def run_bare(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        """Run it once, and let what the driver raises through."""
        text = self._compiled(connection)
        return connection.exec_driver_sql(text, tuple(map(values.get, self._order)))

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each of at least one rows."""
        text = self._compiled(connection)
        with domain_errors():
            connection.exec_driver_sql(text, [tuple(map(row.get, self._order)) for row in rows])

    def _compiled(self, connection: Connection) -> str:
        if self._text is None:
            compiled: Any = self._statement.compile(
                dialect=connection.dialect, column_keys=list(self._names)
            )
            self._order = tuple(compiled.positiontup)
            self._text = str(compiled)
        return self._text

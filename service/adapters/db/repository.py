"""What every repository shares: the connection, and the tenant that bounds each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Select,
    Table,
    insert,
    select,
)

from service.adapters.db.errors import domain_errors
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Scope

Parameters = dict[str, object] | list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class Session:
    """One open transaction, and what its repositories need."""

    connection: Connection
    scope: Scope
    clock: Clock
    identifiers: Identifiers


class Repository:
    """Queries on tables that belong to a tenant."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _mine(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row is this tenant's: the only place that says so."""
        return table.c.tenant == self._session.scope.tenant

    def _rows_of(self, table: Table) -> Select[Any]:
        """Select this tenant's rows."""
        return select(table).where(self._mine(table))

    def _insert(self, table: Table, **values: object) -> None:
        """Insert a row for this tenant."""
        self._execute(insert(table), {"tenant": self._session.scope.tenant, **values})

    def _execute(
        self, statement: Executable, parameters: Parameters | None = None
    ) -> CursorResult[Any]:
        with domain_errors():
            return self._session.connection.execute(statement, parameters)

"""What every repository shares: the connection, and the tenant that bounds each query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Row,
    Select,
    Table,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from service.adapters.db import cursors
from service.adapters.db.edge import Edge
from service.adapters.db.errors import DEPENDENCY, ENDLESS, domain_errors
from service.adapters.db.prepared import Prepared
from service.domain.errors import Conflict, Damaged
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.paging import Page, PageRequest
from service.ports.storage import Scope
from service.ports.subject_keys import SubjectKeys, SubjectRef

T = TypeVar("T")
Parameters = dict[str, object] | list[dict[str, object]]
STREAMED = 1_000
SMALLEST_ROW = 4  # bytes in a page: pointer, length, number


@dataclass(frozen=True, slots=True)
class Session:
    """One open transaction, and what its repositories need.

    ``touched`` collects the opaque ids of the users that it is about.
    """

    connection: Connection
    scope: Scope
    clock: Clock
    identifiers: Identifiers
    checkpoint: Callable[[], str | None] = lambda: None
    keys: SubjectKeys | None = None
    touched: set[str] = field(default_factory=set)
    edge: Edge = field(default_factory=Edge)

    def whose(self, subject_id: str) -> SubjectRef:
        """Return a user of this tenant, and remember that the transaction is about them."""
        self.touched.add(subject_id)
        return SubjectRef(self.scope.tenant, subject_id)


@cache
def _insertion(table: Table, names: tuple[str, ...]) -> Prepared:
    return Prepared(insert(table), *names)


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
        row = {"tenant": self._session.scope.tenant, **values}
        _insertion(table, tuple(row)).run(self._session.connection, row)

    def _one(self, statement: Prepared, **values: object) -> Any:  # noqa: ANN401 - a row or None
        """Return the row of a statement about this tenant, or ``None``; there is one at most."""
        return next(iter(self._several(statement, **values)), None)

    def _several(self, statement: Prepared, **values: object) -> Sequence[Any]:
        """Return the rows of a statement about this tenant (its parameter ``tenant``)."""
        row = {"tenant": self._session.scope.tenant, **values}
        return statement.rows(self._session.connection, row)

    def _tuples(self, statement: Prepared, **values: object) -> Sequence[tuple[Any, ...]]:
        """Return many rows of a statement about this tenant, as plain tuples."""
        row = {"tenant": self._session.scope.tenant, **values}
        return statement.tuples(self._session.connection, row)

    def _add(self, what: str, table: Table, **values: object) -> None:
        """Insert a row that nothing is known about yet; ``Conflict`` if the tables refuse it."""
        row = {"tenant": self._session.scope.tenant, **values}
        with domain_errors():
            try:
                _insertion(table, tuple(row)).run_bare(self._session.connection, row)
            except IntegrityError as error:
                raise Conflict(
                    f"This {what} exists already, or it names something that does not."
                ) from error

    def _change(self, table: Table, *which: ColumnElement[bool], **values: object) -> bool:
        """Update this tenant's rows that fulfil the conditions; tell whether there were any."""
        statement = update(table).where(self._mine(table), *which).values(**values)
        return self._execute(statement).rowcount > 0

    def _page(
        self, matching: Select[Any], table: Table, page: PageRequest, make: Callable[[Row[Any]], T]
    ) -> Page[T]:
        """Return a part of a list, newest first; ``table`` is the one whose position counts."""
        before = cursors.position(page)
        counting = matching.with_only_columns(func.count(), maintain_column_froms=True)
        total = int(self._execute(counting).scalar_one())
        query = matching if before is None else matching.where(table.c.position < before)
        query = query.order_by(table.c.position.desc()).limit(page.limit + 1)
        rows = self._execute(query).all()
        cut = cursors.cut(rows, page, total, lambda row: int(row.position))
        return Page(tuple(map(make, cut.items)), cut.next_cursor, cut.total)

    def _stream(self, statement: Executable) -> Iterator[Row[Any]]:
        """Go through the rows of a query without holding them all."""
        result = self._execute(statement)
        left = self._most_rows()
        while True:
            with domain_errors():
                rows = result.fetchmany(STREAMED)
            if not rows:
                return
            left -= len(rows)
            if left < 0:
                raise Damaged(DEPENDENCY, ENDLESS)
            yield from rows

    def _most_rows(self) -> int:
        """Return more rows than the file has room for."""
        pages, size = (
            int(self._session.connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
            for name in ("page_count", "page_size")
        )
        return pages * size // SMALLEST_ROW + STREAMED

    def _all(
        self, statement: Executable, parameters: Parameters | None = None
    ) -> Sequence[Row[Any]]:
        with domain_errors():  # a damaged file shows while rows are fetched
            return self._session.connection.execute(statement, parameters).all()

    def _execute(
        self, statement: Executable, parameters: Parameters | None = None
    ) -> CursorResult[Any]:
        with domain_errors():
            return self._session.connection.execute(statement, parameters)

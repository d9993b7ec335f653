"""Connections to SQLite: which library, which pragmas, who may write.

SQLite 3.7.0 to 3.51.2 can lose committed pages in WAL mode when two connections write and
checkpoint at once, so an older library gets a rollback journal instead, and a warning.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event

from service.adapters.db.prepared import execute

try:
    from pysqlite3 import dbapi2 as bundled
except ImportError:  # not built for this platform
    bundled = None

SAFE_WAL = (3, 51, 3)
# A damaged text must reach the verifier, which reports it, rather than stop the query.
DECODE = partial(str, encoding="utf-8", errors="surrogateescape")


@dataclass(frozen=True, slots=True)
class Driver:
    """A DB-API module for SQLite and how far its library can be trusted."""

    module: ModuleType
    journal_mode: str
    warnings: tuple[str, ...]

    @property
    def version(self) -> str:
        """Return the version of the SQLite library."""
        return str(self.module.sqlite_version)


def choose_driver(module: ModuleType | None = None) -> Driver:
    """Return the bundled library where there is one, else the interpreter's own."""
    chosen = module or bundled or sqlite3.dbapi2
    if tuple(chosen.sqlite_version_info) >= SAFE_WAL:
        return Driver(chosen, "WAL", ())
    warning = (
        f"SQLite {chosen.sqlite_version} can lose data in WAL mode; using a rollback journal, "
        "which is slower. Install pysqlite3."
    )
    return Driver(chosen, "DELETE", (warning,))


def writer_engine(path: Path, driver: Driver, *, busy_timeout: float) -> Engine:
    """Return the engine with the one connection that writes."""
    pragmas = (
        f"journal_mode={driver.journal_mode}",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        "trusted_schema=OFF",
    )
    engine = _engine(path, driver, pragmas, busy_timeout=busy_timeout, connections=1)
    event.listen(engine, "begin", _begin("BEGIN IMMEDIATE"))
    return engine


def reader_engine(path: Path, driver: Driver, *, busy_timeout: float, connections: int) -> Engine:
    """Return the engine for reading: every transaction is a snapshot, and cannot write."""
    pragmas = ("query_only=ON", "foreign_keys=ON", "trusted_schema=OFF")
    engine = _engine(path, driver, pragmas, busy_timeout=busy_timeout, connections=connections)
    event.listen(engine, "begin", _begin("BEGIN"))
    return engine


def inspector_engine(path: Path, driver: Driver, *, busy_timeout: float, at_rest: bool) -> Engine:
    """Return the engine for looking at a database of somebody else, which is never written to.

    ``at_rest`` promises that nobody writes to it: then no lock and no file beside it is needed.
    """
    mode = "mode=ro&immutable=1" if at_rest else "mode=ro"
    uri = f"{path.absolute().as_uri()}?{mode}"

    def connect() -> Any:  # noqa: ANN401 - a DB-API connection
        return driver.module.connect(uri, uri=True, timeout=busy_timeout, check_same_thread=False)

    engine = create_engine(
        "sqlite://", module=driver.module, creator=connect, poolclass=NullPool, hide_parameters=True
    )
    event.listen(engine, "connect", _prepare(("query_only=ON", "trusted_schema=OFF")))
    event.listen(engine, "begin", _begin("BEGIN"))
    return engine


def _engine(
    path: Path, driver: Driver, pragmas: tuple[str, ...], *, busy_timeout: float, connections: int
) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        module=driver.module,
        connect_args={"timeout": busy_timeout, "check_same_thread": False},
        pool_size=connections,
        max_overflow=0,
        pool_timeout=busy_timeout,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare(pragmas))
    return engine


def _prepare(pragmas: tuple[str, ...]) -> Callable[[Any, Any], None]:
    def prepare(connection: Any, _record: Any) -> None:  # noqa: ANN401 - a DB-API connection
        connection.isolation_level = None  # no BEGIN of the driver's own; see _begin
        connection.text_factory = DECODE
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return prepare


def _begin(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        execute(connection, statement)

    return begin

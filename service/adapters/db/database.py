"""The database: opening it, and running units of work on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError

from service.adapters.db.edge import Edge
from service.adapters.db.engine import Driver, choose_driver, reader_engine, writer_engine
from service.adapters.db.errors import DEPENDENCY, domain_errors
from service.adapters.db.keystore import OpenKeys, bind_keys
from service.adapters.db.lock import lock_directory
from service.adapters.db.migrate import current_revision, head_revision, migrate
from service.adapters.db.repository import Session
from service.adapters.db.transaction import SqlTransaction
from service.adapters.db.upkeep import SqlUpkeep
from service.adapters.db.wholeness import require_whole
from service.adapters.db.writer import Writer
from service.audit.chain import genesis
from service.audit.entry import EntryDraft
from service.domain.errors import InvalidInput, Unavailable
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import SYSTEM, DatabaseHealth, Scope
from service.ports.subject_keys import SubjectKeys

T = TypeVar("T")


class SqlDatabase:
    """Implements ``Database``; make one with ``open_database``."""

    def __init__(
        self,
        *,
        writer: Writer,
        readers: Engine,
        begin: Callable[[Connection, Scope], SqlTransaction],
        driver: Driver,
        resources: ExitStack,
        keys: SubjectKeys | None,
        upkeep: SqlUpkeep,
    ) -> None:
        self._writer = writer
        self._readers = readers
        self._begin = begin
        self._driver = driver
        self._resources = resources
        self._needed = head_revision()
        self.keys = keys
        self.upkeep = upkeep

    def write(self, scope: Scope, work: Callable[[SqlTransaction], T]) -> T:
        """Run ``work`` on the writing thread; returns after its commit."""
        return self._writer.submit(scope, work)

    def read(self, scope: Scope, work: Callable[[SqlTransaction], T]) -> T:
        """Run ``work`` on a snapshot, on the calling thread."""
        with domain_errors(), self._readers.connect() as connection, connection.begin():
            return work(self._begin(connection, scope))

    def health(self) -> DatabaseHealth:
        """Return whether the database can serve, and what to worry about."""
        warnings = self._driver.warnings
        revision, journal_mode = None, "unknown"
        try:
            with domain_errors(), self._readers.connect() as connection:
                revision = current_revision(connection)
                pragma = connection.exec_driver_sql("PRAGMA journal_mode")
                journal_mode = str(pragma.scalar_one())
        except Unavailable as error:
            warnings = (*warnings, str(error))
        at_head = revision is not None and revision == self._needed
        return DatabaseHealth(at_head, revision, self._driver.version, journal_mode, warnings)

    def freeze(self, reason: str) -> None:
        """Let every write fail with ``ReadOnly`` and this reason until the database is reopened."""
        self._writer.freeze(reason)

    def close(self) -> None:
        """Finish waiting writes and let go of everything."""
        self._resources.close()


def open_database(
    location: str | Path,
    *,
    clock: Clock,
    identifiers: Identifiers,
    origin: str | None = None,
    queue_size: int = 256,
    readers: int = 4,
    busy_timeout: float = 5.0,
    driver: Driver | None = None,
    before_new_log: Callable[[str], None] = lambda _origin: None,
    checkpoint: Callable[[], str | None] = lambda: None,
    open_keys: OpenKeys | None = None,
) -> SqlDatabase:
    """Open or create the database, bring its schema up to date, and start its writer.

    ``location`` is a path or a ``sqlite:///`` URL. ``origin`` names a new log (by default
    ``groundkeeper/<random id>``); with an existing log it must be that log's name.
    ``before_new_log`` is called with the name before a new log is committed, ``checkpoint`` gives
    the signed note that appended entries are handed out with. ``open_keys`` opens the keys that
    texts are encrypted under; without it they are stored as they are.
    """
    path = database_path(location)
    chosen = driver or choose_driver()
    with ExitStack() as resources, domain_errors():
        _create(path)
        resources.callback(lock_directory(path.parent).release)
        require_whole(path, chosen, busy_timeout=busy_timeout)
        writing = writer_engine(path, chosen, busy_timeout=busy_timeout)
        resources.callback(writing.dispose)
        migrate(writing)
        reading = reader_engine(path, chosen, busy_timeout=busy_timeout, connections=readers)
        resources.callback(reading.dispose)

        def begin(connection: Connection, scope: Scope, edge: Edge | None = None) -> SqlTransaction:
            return SqlTransaction(
                Session(
                    connection, scope, clock, identifiers, checkpoint, keys, edge=edge or Edge()
                )
            )

        with writing.begin() as connection:
            keys = None if open_keys is None else bind_keys(connection, open_keys)
            if keys is not None:
                resources.callback(keys.close)
            new = f"groundkeeper/{identifiers.new('log')}"
            _open_log(begin(connection, SYSTEM), origin, origin or new, before_new_log)
        _keep_reading(reading)
        writer = Writer(writing, partial(begin, edge=Edge()), queue_size=queue_size)
        resources.callback(writer.close)
        return SqlDatabase(
            writer=writer,
            readers=reading,
            begin=begin,
            driver=chosen,
            resources=resources.pop_all(),
            keys=keys,
            upkeep=SqlUpkeep(path, chosen, writer.paused),
        )


def _keep_reading(readers: Engine) -> None:
    """Let one reader stay in the pool.

    It keeps the index of the WAL alive when the writer drops its connection after an error; a full
    disk would have no room to make it again, and nothing could be read.
    """
    with readers.connect() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM head")


def database_path(location: str | Path) -> Path:
    """Return the file that a path or URL names; raises ``InvalidInput`` for other databases."""
    text = str(location)
    if "://" not in text:
        return Path(location).absolute()
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise InvalidInput("DATABASE_URL", "is not a database URL") from error
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        raise InvalidInput("DATABASE_URL", "must name a SQLite file: sqlite:///path/to/file.db")
    return Path(str(url.database)).absolute()


def _create(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot create {path}: {error.strerror}") from error


def _open_log(
    transaction: SqlTransaction,
    expected: str | None,
    new: str,
    before_new_log: Callable[[str], None],
) -> None:
    audit = transaction.audit
    if not audit.has_head():
        audit.open_log(new, genesis(new))
        audit.append(EntryDraft(kind="log.opened", actor=SYSTEM.actor), {})
        before_new_log(new)
    known = audit.head().origin
    if expected not in (None, known):
        raise Unavailable(DEPENDENCY, f"this log is called {known}, not {expected}")

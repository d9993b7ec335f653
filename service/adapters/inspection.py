"""Looking at an installation from outside: versions, and a database at rest or in use."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from service.adapters.db.engine import choose_driver
from service.adapters.db.errors import DEPENDENCY, domain_errors
from service.adapters.db.keystore import keys_name
from service.adapters.db.migrate import current_revision, head_revision
from service.adapters.db.read_only import read_only
from service.adapters.db.repository import Session
from service.adapters.db.transaction import SqlTransaction
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.storage import SYSTEM, Scope, Transaction
from service.ports.subject_keys import SubjectKeys
from service.usecases.readiness import ProbeState

_PACKAGES = ("groundkeeper", "fastapi", "uvicorn", "sqlalchemy", "onnxruntime", "spacy")
_SCHEME = "sqlite:///"


def versions() -> list[ProbeState]:
    """Return the versions of what matters."""
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    found = {"python": platform.python_version(), "sqlite": choose_driver().version, **found}
    return [ProbeState(name, ok=True, detail=version) for name, version in found.items()]


def has_database(location: str | Path) -> bool:
    """Return whether there is a database file."""
    return _path(location).is_file()


def database_state(location: str | Path) -> ProbeState:
    """Return whether a database is there and up to date."""
    path = _path(location)
    if not path.exists():
        return ProbeState("database", ok=True, detail=f"{path} will be created")
    try:
        with _session(path) as session:
            revision = current_revision(session.connection)
    except GroundkeeperError as error:
        return ProbeState("database", ok=False, detail=str(error))
    needed = head_revision()
    later = "" if revision == needed else f"; the next start brings it to {needed}"
    return ProbeState("database", ok=revision is not None, detail=f"revision {revision}{later}")


OpenByName = Callable[[str], SubjectKeys | None]
"""Opens the keys of users by the name that the database remembers, if they can be opened."""


@contextmanager
def reading(
    location: str | Path,
    scope: Scope = SYSTEM,
    keys: SubjectKeys | None = None,
    open_keys: OpenByName | None = None,
) -> Iterator[Transaction]:
    """Give a snapshot of a database that nothing here can write to, as one tenant sees it.

    Without ``keys``, or what opens them, no encrypted text can be read. The service may be running.

    Raises:
        Damaged: the file is no database, or one that is broken from its first page on.
        Unavailable: there is no database, it cannot be read, or is of another version.
    """
    with ExitStack() as resources, domain_errors():
        session = resources.enter_context(_session(_path(location), scope, keys))
        _require_ours(session.connection)
        name = None if open_keys is None else keys_name(session.connection)
        if open_keys is not None and name is not None:
            session = replace(session, keys=_closing(open_keys(name), resources))
        yield SqlTransaction(session)


def _closing(keys: SubjectKeys | None, resources: ExitStack) -> SubjectKeys | None:
    if keys is not None:
        resources.callback(keys.close)
    return keys


@contextmanager
def _session(
    path: Path, scope: Scope = SYSTEM, keys: SubjectKeys | None = None
) -> Iterator[Session]:
    with ExitStack() as resources:
        connection = resources.enter_context(read_only(path))
        resources.enter_context(domain_errors())
        resources.enter_context(connection.begin())
        yield Session(connection, scope, SystemClock(), RandomIdentifiers(), keys=keys)


def _require_ours(connection: Connection) -> None:
    revision, needed = current_revision(connection), head_revision()
    tables = {row[0] for row in connection.exec_driver_sql("SELECT name FROM sqlite_schema")}
    if "entry" not in tables and "head" not in tables:
        raise Unavailable(DEPENDENCY, "there is no audit log in this file")
    if revision not in (None, needed):  # without any, somebody removed it: that is for the report
        raise Unavailable(
            DEPENDENCY,
            f"it is of revision {revision} and this program reads {needed}: start the service "
            "once, or use the version that wrote it",
        )


def _path(location: str | Path) -> Path:
    return Path(str(location).removeprefix(_SCHEME))

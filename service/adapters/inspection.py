"""Looking at an installation from outside: versions, and a database at rest or in use."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.adapters.db.engine import choose_driver, reader_engine
from service.adapters.db.errors import DEPENDENCY, domain_errors
from service.adapters.db.migrate import current_revision, head_revision
from service.adapters.db.repository import Session
from service.adapters.db.transaction import SqlTransaction
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.storage import SYSTEM, Transaction
from service.usecases.readiness import ProbeState

_PACKAGES = ("groundkeeper", "fastapi", "uvicorn", "sqlalchemy", "onnxruntime", "spacy")
_BUSY_SECONDS = 30.0
_SCHEME = "sqlite:///"


def versions() -> list[ProbeState]:
    """Return the versions of what matters."""
    found = {name: importlib.metadata.version(name) for name in _PACKAGES}
    found = {"python": platform.python_version(), "sqlite": choose_driver().version, **found}
    return [ProbeState(name, ok=True, detail=version) for name, version in found.items()]


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


@contextmanager
def reading(location: str | Path) -> Iterator[Transaction]:
    """Give a snapshot of a database that nothing here can write to.

    Raises:
        Unavailable: there is no database, or it cannot be read.
    """
    with _session(_path(location)) as session, domain_errors():
        yield SqlTransaction(session)


@contextmanager
def _session(path: Path) -> Iterator[Session]:
    if not path.is_file():
        raise Unavailable(DEPENDENCY, f"there is no {path}")
    engine = reader_engine(path, choose_driver(), busy_timeout=_BUSY_SECONDS, connections=1)
    try:
        with domain_errors(), engine.connect() as connection, connection.begin():
            yield Session(connection, SYSTEM, SystemClock(), RandomIdentifiers())
    finally:
        engine.dispose()


def _path(location: str | Path) -> Path:
    return Path(str(location).removeprefix(_SCHEME))

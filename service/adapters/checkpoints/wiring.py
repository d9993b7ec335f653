"""Checkpoints put together: for the running service, and for an operator's commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from service.adapters.checkpoints.runtime import Cadence, CheckpointRuntime
from service.adapters.checkpoints.store import FileCheckpointStore
from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.inspection import has_database, reading
from service.adapters.signing.log_keys import FileLogKeys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.checkpoints import Board
from service.ports.clock import Clock
from service.ports.storage import Database
from service.usecases.checkpoint_changes import Adopted, Rotated, adopt, begin, rotate
from service.usecases.checkpoint_checks import continued, read_last
from service.usecases.checkpoints import Checkpoints
from service.usecases.readiness import ProbeState

_NAME = "checkpoint"


@dataclass(frozen=True, slots=True)
class CheckpointParts:
    """The folders of one installation."""

    store: FileCheckpointStore
    keys: FileLogKeys
    board: Board

    def new_log(self, origin: str) -> None:
        """Make the store that belongs to a new log."""
        begin(self.store, self.keys, origin)

    def runtime(
        self, database: Database, clock: Clock, cadence: Cadence
    ) -> tuple[Checkpoints, CheckpointRuntime]:
        """Return the use case and what runs it; the log was compared with its last checkpoint."""
        checkpoints = Checkpoints(
            database=database, store=self.store, keys=self.keys, board=self.board, clock=clock
        )
        running = CheckpointRuntime(checkpoints, cadence)
        running.open()
        return checkpoints, running


def checkpoint_parts(store: Path, keys: Path) -> CheckpointParts:
    """Return the parts for a store folder and a key folder; nothing is touched yet."""
    return CheckpointParts(FileCheckpointStore(store), FileLogKeys(keys), Board())


def adopt_log(location: str | Path, parts: CheckpointParts, reason: str, kind: str) -> Adopted:
    """Vouch for the log as it is; see ``usecases.checkpoint_changes.adopt``."""
    with _stopped(location) as database:
        return adopt(database, parts.store, parts.keys, reason=reason, kind=kind)


def rotate_key(location: str | Path, parts: CheckpointParts) -> Rotated:
    """Let a new key sign; see ``usecases.checkpoint_changes.rotate``."""
    with _stopped(location) as database:
        return rotate(database, parts.store, parts.keys)


def checkpoint_state(location: str | Path, parts: CheckpointParts) -> ProbeState:
    """Return whether the log of a database, which may be in use, continues its last checkpoint."""
    try:
        if not has_database(location):
            stored = parts.store.read()
            if stored is None:
                return ProbeState(_NAME, ok=True, detail="will be made with the database")
            return ProbeState(_NAME, ok=False, detail="there is a last checkpoint, but no database")
        last = read_last(parts.store, parts.keys)
        with reading(location) as tx:
            now = continued(tx, last.checkpoint)
    except GroundkeeperError as error:
        return ProbeState(_NAME, ok=False, detail=getattr(error, "detail", str(error)))
    size = last.checkpoint.size
    return ProbeState(_NAME, ok=True, detail=f"{size} entries signed, {now.size - size} not yet")


@contextmanager
def _stopped(location: str | Path) -> Iterator[SqlDatabase]:
    """Open the database of a service that does not run; a missing one is not made."""
    if not has_database(location):
        raise Unavailable("database", f"there is no {location}")
    database = open_database(location, clock=SystemClock(), identifiers=RandomIdentifiers())
    try:
        yield database
    finally:
        database.close()

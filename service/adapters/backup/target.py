"""The data directory that a backup is restored to.

Everything is made ready in a folder of its own in the same directory, and gets its place in a few
renames. What was there before is moved to ``replaced-<time>`` beside it; nothing is deleted. The
old write-ahead log goes first: the new database must never meet it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from service.adapters.backup.copying import copy_rows
from service.adapters.backup.ledger import FILE_NAME, merge, read_ledger
from service.adapters.backup.rows import Unsealer
from service.adapters.backup.sealing import DEPENDENCY
from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.db.errors import domain_errors
from service.adapters.db.keystore import keys_name
from service.adapters.db.lock import lock_directory
from service.adapters.db.read_only import beside, read_only
from service.adapters.durable import sync_folder
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import Conflict, Damaged, Unavailable
from service.ports.backup import Unsealed
from service.ports.subject_keys import SubjectRef

_STAGING: Final = "restore.part"
_BESIDE: Final = ("shm", "wal", "journal")


class DataDirectory:
    """Implements ``RestoreTarget``; ``others`` are folders made from the database."""

    def __init__(self, path: Path, key_dir: Path, others: tuple[Path, ...]) -> None:
        self._path = path
        self._key_dir = key_dir
        self._others = others

    @contextmanager
    def staging(self, *, replace: bool) -> Iterator[StagedDatabase]:
        """Begin; the directory is locked, and what is not put in place is removed at the end."""
        home = self._path.parent
        folder = home / _STAGING
        with _reported(home):
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = lock_directory(home)
        try:
            occupied = [p for p in self._there() if p.exists()]
            if occupied and not replace:
                raise Conflict(
                    f"There is data already ({occupied[0]}). To move it aside and restore, add "
                    "--replace."
                )
            with _reported(folder):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(mode=0o700)
            yield StagedDatabase(folder / self._path.name, self._path, self._key_dir, self._there())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()

    def _there(self) -> tuple[Path, ...]:
        """Return what belongs to a database, in the order in which it has to go."""
        return (*(beside(self._path, end) for end in _BESIDE), self._path, *self._others)


class StagedDatabase:
    """Implements ``Staging``."""

    def __init__(self, staged: Path, final: Path, key_dir: Path, there: tuple[Path, ...]) -> None:
        self._staged = staged
        self._final = final
        self._key_dir = key_dir
        self._there = there

    def fill(self, database: Path, encrypted: Mapping[str, tuple[str, ...]]) -> Unsealed:
        """Copy a backup's database, each row decrypted under its user's key."""
        with read_only(database) as connection, domain_errors(), connection.begin():
            name = keys_name(connection)
            if name is None:
                raise Damaged(DEPENDENCY, "its database names no file of keys")
            with closing(open_subject_keys(self._key_dir, name)) as keys:
                unsealer = Unsealer(keys, encrypted)
                copy_rows(connection.connection.driver_connection, self._staged, unsealer)
        gone = unsealer.destroyed
        known = read_ledger(self._key_dir / FILE_NAME)
        rows = (r for r in known if SubjectRef(r.tenant, r.subject_id or "") not in gone)
        ordered = sorted(gone, key=lambda who: (who.tenant, who.subject_id))
        return Unsealed(tuple(ordered), merge(self._staged, rows))

    @contextmanager
    def open(self, origin: str) -> Iterator[SqlDatabase]:
        """Open it, bringing its schema up to date."""
        database = open_database(
            self._staged,
            clock=SystemClock(),
            identifiers=RandomIdentifiers(),
            origin=origin,
            open_keys=partial(open_subject_keys, self._key_dir),
        )
        try:
            yield database
        finally:
            database.close()

    def put_in_place(self) -> Path | None:
        """Let it take the place of what is there; returns where that was put."""
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        occupied = [path for path in self._there if path.exists()]
        aside = None
        with _reported(self._final.parent):
            for path in occupied:
                folder = path.parent / f"replaced-{moment}"
                folder.mkdir(exist_ok=True, mode=0o700)
                path.rename(folder / path.name)
                sync_folder(path.parent)
                aside = folder if path == self._final else aside or folder
            self._staged.rename(self._final)
            sync_folder(self._final.parent)
        return aside


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error.strerror}") from error

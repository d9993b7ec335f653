"""Backups put together, for an operator's commands."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from service.adapters.backup.shelf import FolderBackup, FolderShelf
from service.adapters.backup.source import DatabaseSource
from service.adapters.backup.target import DataDirectory
from service.adapters.checkpoints.wiring import adopt_log
from service.adapters.db.database import database_path, open_database
from service.adapters.db.lock import lock_directory
from service.adapters.exporting.wiring import Place
from service.adapters.inspection import versions
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import Unavailable
from service.usecases.backup import Made, MakeBackup, Signing, record_made
from service.usecases.checkpoint_changes import Adopted
from service.usecases.restore import RestoreBackup, Restored, Wishes


def back_up(
    place: Place, out: Path, keep: int | None, origin: str | None = None
) -> tuple[Made, int | None]:
    """Make a backup; return it with the number of the entry that records it.

    A running service has the log to itself: then there is no entry, and the number is ``None``.
    """
    made = MakeBackup(
        source=DatabaseSource(database_path(place.location), place.key_dir, origin),
        shelf=FolderShelf(out),
        signing=_signing(place),
        clock=SystemClock(),
        versions={state.name: state.detail for state in versions()},
    ).run(keep)
    return made, _record(place, made.digest)


def restore_from(
    place: Place, derived: tuple[Path, ...], folder: Path, wishes: Wishes
) -> tuple[Restored, Adopted | None]:
    """Restore a backup; after a rollback, return what was vouched for too.

    ``derived`` are folders that are made from the database, and anew where they are missing.
    """
    restored = RestoreBackup(
        target=DataDirectory(database_path(place.location), place.key_dir, derived),
        signing=_signing(place),
        clock=SystemClock(),
        identifiers=RandomIdentifiers(),
    ).run(FolderBackup(folder), wishes)
    if restored.rollback is None:
        return restored, None
    reason = f"Put aside by groundkeeper restore, from {folder.name}: {restored.rollback}."
    return restored, adopt_log(place.location, place.parts, reason, "checkpoint.adopted")


def _signing(place: Place) -> Signing:
    return Signing(place.parts.store, place.parts.keys)


def _record(place: Place, digest: str) -> int | None:
    try:
        lock_directory(database_path(place.location).parent).release()
    except Unavailable:
        return None
    database = open_database(
        place.location,
        clock=SystemClock(),
        identifiers=RandomIdentifiers(),
        open_keys=partial(open_subject_keys, place.key_dir),
    )
    try:
        return record_made(database, digest)
    finally:
        database.close()

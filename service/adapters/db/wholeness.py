"""Looking at a database that was not closed, before anything is written to it.

After a crash SQLite puts the file and what is in its WAL together again, and does not notice if the
two do not belong together, as when an old copy of the file was put back and the newer WAL was left
beside it. Writing to such a mixture would bury what is left of both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from service.adapters.db.engine import Driver, inspector_engine
from service.adapters.db.errors import DEPENDENCY
from service.domain.errors import Damaged

_TABLES: Final = "SELECT count(*) FROM sqlite_schema WHERE name IN ('entry', 'head')"
_COUNTS: Final = "SELECT (SELECT count(*) FROM entry), (SELECT size FROM head)"
_BOTH: Final = 2


def require_whole(path: Path, driver: Driver, *, busy_timeout: float) -> None:
    """Return if the database was closed, or hangs together and has every entry of its log.

    Reads the whole file if it was not closed, and changes nothing. Raises ``Damaged``.
    """
    if not _has_wal(path):
        return
    # Not with a connection that may write: closing it would move the WAL into the file.
    engine = inspector_engine(path, driver, busy_timeout=busy_timeout, at_rest=False)
    try:
        with engine.connect() as connection:
            found = _fault(connection)
    finally:
        engine.dispose()
    if found is not None:
        raise Damaged(
            DEPENDENCY,
            f"the file is damaged ({found}). It was not closed, or the files beside it are not its "
            "own: put back a backup, all of its files together, into an empty folder",
        )


def _has_wal(path: Path) -> bool:
    wal = path.with_name(f"{path.name}-wal")
    return wal.exists() and wal.stat().st_size > 0


def _fault(connection: Connection) -> str | None:
    checked = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    if checked != "ok":
        return " ".join(checked.split())
    if connection.exec_driver_sql(_TABLES).scalar_one() != _BOTH:
        return None  # it was only just being made
    entries, size = connection.exec_driver_sql(_COUNTS).one()
    if size is None or entries == size:
        return None
    return f"{entries} entries where the log's head says {size}"

"""Work on the database file that is no transaction: emptying the log beside it, rewriting it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from service.adapters.db.engine import Driver
from service.adapters.db.errors import DEPENDENCY
from service.domain.errors import Unavailable

_PATIENCE_MS: Final = 200
_PRAGMAS: Final = ("synchronous=FULL", "secure_delete=ON", f"busy_timeout={_PATIENCE_MS}")


class SqlUpkeep:
    """Implements ``Upkeep``; ``pause`` keeps the writing thread waiting meanwhile."""

    def __init__(
        self, path: Path, driver: Driver, pause: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._path = path
        self._driver = driver
        self._pause = pause

    def truncate(self) -> bool:
        """Empty the write-ahead log; False while a reader still needs what is in it.

        SQLite does so only once every reader sees the newest state. A database without such a log
        has nothing to empty, and its readers keep writers from committing instead.
        """
        with self._connected() as connection:
            row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        busy, frames = int(row[0]), int(row[1])
        return busy == 0 and frames <= 0

    def rebuild(self) -> None:
        """Write the file anew from its rows; nobody can write meanwhile."""
        with self._connected() as connection:
            connection.execute("VACUUM")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        error_type: type[Exception] = self._driver.module.Error
        with self._pause():
            try:
                connection = self._driver.module.connect(str(self._path), isolation_level=None)
                try:
                    for pragma in _PRAGMAS:
                        connection.execute(f"PRAGMA {pragma}")
                    yield connection
                finally:
                    connection.close()
            except error_type as error:
                raise Unavailable(DEPENDENCY, str(error)) from error

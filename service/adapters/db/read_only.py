"""Opening somebody else's database without leaving a trace in its folder.

A database in WAL mode is more than one file: what was committed last may be in ``-wal`` only, and
readers find it through ``-shm``.

- ``-shm`` is there: the service is running, or was killed. It is read beside the service.
- neither is there, or ``-wal`` is empty: the database is at rest and is read as it is; with a
  rollback journal, under its locks.
- ``-wal`` holds something and there is no (usable) ``-shm``, as in a copied folder: making one
  would write beside the original, so both files are copied and the copy is read.

A file that should be at rest and changes meanwhile is an error, never a finding.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from service.adapters.db.engine import choose_driver, inspector_engine
from service.adapters.db.errors import DEPENDENCY, domain_errors
from service.domain.errors import Damaged, Unavailable

BUSY_SECONDS: Final = 30.0
_VERSIONS: Final = slice(18, 20)  # the bytes of the file header that say 2 for WAL
_WAL: Final = 2
_MAGIC: Final = b"SQLite format 3\x00"
_Stamp = tuple[tuple[int, int], ...]


@contextmanager
def read_only(path: Path) -> Iterator[Connection]:
    """Give a connection that can change neither the database nor its folder.

    Raises ``Unavailable`` if there is no database or it cannot be read.
    """
    if not path.is_file():
        raise Unavailable(DEPENDENCY, f"there is no {path}")
    with ExitStack() as resources:
        try:
            connection = _connect(path, resources)
        except OSError as error:
            raise Unavailable(DEPENDENCY, f"cannot read {path}: {error.strerror}") from error
        yield connection


def _connect(path: Path, resources: ExitStack) -> Connection:
    # Asked first: where this process has the database open itself, opening and closing the file
    # by other means would drop the locks of SQLite.
    if beside(path, "shm").exists():
        try:
            return _open(path, resources, at_rest=False)
        except Damaged:
            raise
        except Unavailable:  # left behind by a service that was killed, in a read-only folder
            return _open_copy(path, resources)
    _require_database(path)
    if not _uses_wal(path):
        return _open(path, resources, at_rest=False)
    if _size(beside(path, "wal")):
        return _open_copy(path, resources)
    resources.callback(_require_rest, path, _stamp(path))
    return _open(path, resources, at_rest=True)


def _open_copy(path: Path, resources: ExitStack) -> Connection:
    folder = Path(resources.enter_context(TemporaryDirectory(prefix="groundkeeper-")))
    before = _stamp(path)
    for source in (path, beside(path, "wal")):
        if source.exists():
            shutil.copyfile(source, folder / source.name)
    _require_rest(path, before)
    return _open(folder / path.name, resources, at_rest=False)


def _open(path: Path, resources: ExitStack, *, at_rest: bool) -> Connection:
    engine = inspector_engine(path, choose_driver(), busy_timeout=BUSY_SECONDS, at_rest=at_rest)
    with domain_errors():
        connection = engine.connect()
        try:
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_schema")
        except DBAPIError:
            _close(connection, engine)
            raise
        connection.rollback()
    resources.callback(_close, connection, engine)
    return connection


def beside(path: Path, ending: str) -> Path:
    """Return one of the files that SQLite keeps beside a database."""
    return path.with_name(f"{path.name}-{ending}")


def _require_database(path: Path) -> None:
    """Refuse a file of another kind; one whose first bytes were merely damaged goes on."""
    with path.open("rb") as file:
        same = sum(one == other for one, other in zip(file.read(len(_MAGIC)), _MAGIC, strict=False))
    if same < len(_MAGIC) // 2:
        raise Unavailable(DEPENDENCY, f"{path} is not a database")


def _uses_wal(path: Path) -> bool:
    with path.open("rb") as file:
        return _WAL in file.read(_VERSIONS.stop)[_VERSIONS]


def _stamp(path: Path) -> _Stamp:
    """Return what changes when somebody writes."""
    files = (path, beside(path, "wal"))
    return tuple((s.st_size, s.st_mtime_ns) for s in (f.stat() for f in files if f.exists()))


def _require_rest(path: Path, before: _Stamp) -> None:
    if _stamp(path) != before:
        raise Unavailable(DEPENDENCY, "it was changed while it was read; try again")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _close(connection: Connection, engine: Engine) -> None:
    connection.close()
    engine.dispose()

"""What was erased, remembered beside the keys, so that no restored backup brings it back.

The table ``erased`` is in the database, and an old copy of that does not know what was erased
since. So its rows are repeated in ``erased.ndjson`` in the key directory: digests made with keys,
ids and times, nothing that could be read. A backup of the database never holds this file.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import select

from service.adapters.backup.sealing import DEPENDENCY
from service.adapters.db.engine import choose_driver, reader_engine
from service.adapters.db.erasure_tables import erased
from service.adapters.db.errors import domain_errors
from service.adapters.durable import append_file
from service.domain.errors import Unavailable
from service.ports.subject_keys import SubjectRef

FILE_NAME: Final = "erased.ndjson"
_BUSY_SECONDS: Final = 10.0
_COLUMNS: Final = (
    erased.c.tenant,
    erased.c.kind,
    erased.c.digest,
    erased.c.subject_id,
    erased.c.erased_at,
)
_MERGE: Final = """
INSERT INTO erased (tenant, kind, digest, subject_id, erased_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, kind, digest) DO UPDATE SET erased_at = excluded.erased_at
WHERE excluded.erased_at > erased_at"""


@dataclass(frozen=True, slots=True)
class Erased:
    """A row of the table ``erased``."""

    tenant: str
    kind: str
    digest: str
    subject_id: str | None
    erased_at: str


class ErasureLedger:
    """Repeats new rows of the table; call it whenever something was erased."""

    def __init__(self, key_dir: Path, database: Path) -> None:
        self._file = key_dir / FILE_NAME
        self._database = database
        self._lock = threading.Lock()
        self._known: set[Erased] | None = None

    def __call__(self, _who: SubjectRef | None = None) -> None:
        """Repeat what is not in the file yet; returns once it is safely on disk.

        Raises ``Unavailable`` if the file or the database cannot be used.
        """
        with self._lock, _reported(self._file):
            known = self._known if self._known is not None else set(read_ledger(self._file))
            latest = max((row.erased_at for row in known), default="")
            new = [row for row in self._rows(latest) if row not in known]
            if new:
                lines = (json.dumps(asdict(row), sort_keys=True) + "\n" for row in new)
                # On a line of its own, even after one that a crash cut short.
                append_file(self._file, ("\n" + "".join(lines)).encode())
            self._known = known | set(new)

    def _rows(self, since: str) -> list[Erased]:
        query = select(*_COLUMNS).where(erased.c.erased_at >= since)
        engine = reader_engine(
            self._database, choose_driver(), busy_timeout=_BUSY_SECONDS, connections=1
        )
        try:
            with domain_errors(), engine.connect() as connection:
                return [Erased(*row) for row in connection.execute(query)]
        finally:
            engine.dispose()


def read_ledger(file: Path) -> tuple[Erased, ...]:
    """Return what a file says was erased.

    Raises ``Unavailable`` if it cannot be read, or has a line that is none of ours.
    """
    with _reported(file):
        if not file.exists():
            return ()
        lines = file.read_bytes().split(b"\n")
    return tuple(row for line in lines if line for row in _parsed(file, line))


def merge(database: Path, rows: Iterable[Erased]) -> tuple[SubjectRef, ...]:
    """Add rows to the table of a database that nobody uses; returns the users they are new for.

    For a row that is there, the later time stays.
    """
    driver = choose_driver().module
    touched: set[SubjectRef] = set()
    connection = driver.connect(str(database), isolation_level=None)
    try:
        connection.execute("BEGIN")
        for row in rows:
            done = connection.execute(_MERGE, tuple(asdict(row).values()))
            if done.rowcount > 0 and row.subject_id is not None:
                touched.add(SubjectRef(row.tenant, row.subject_id))
        connection.execute("COMMIT")
    except driver.Error as error:
        raise Unavailable(DEPENDENCY, f"cannot write {database}: {error}") from error
    finally:
        connection.close()
    return tuple(sorted(touched, key=lambda who: (who.tenant, who.subject_id)))


def _parsed(file: Path, line: bytes) -> Iterator[Erased]:
    try:
        value = json.loads(line)
    except ValueError:
        return  # cut short by a crash: what it said was repeated by the next start
    try:
        yield Erased(**value)
    except TypeError as error:
        raise Unavailable(DEPENDENCY, f"{file} holds a line that is not one of ours") from error


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error.strerror}") from error

"""Keys of users in SQLite: a rollback journal, deleted bytes overwritten, one connection.

It is a file of its own, not a table of the database, because whoever copies the database must not
get the keys with it. The database remembers the file's random name, so that neither a new file nor
another database's can slip in unnoticed.
"""

from __future__ import annotations

import hmac
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cachetools import LRUCache

from service.adapters.db.engine import choose_driver
from service.adapters.durable import sync_folder
from service.domain.errors import Conflict, Unavailable
from service.ports.subject_keys import KEY_BYTES, KeyState, SubjectRef

DEPENDENCY: Final = "user keys"
FILE_NAME: Final = "subjects.db"
_CACHED: Final = 10_000
_AHEAD: Final = 64
"""At most so many keys of a tenant wait for a user."""
_BLINDING: Final = b"groundkeeper/blind/v1"
_BUSY_SECONDS: Final = 10.0
_OTHERS: Final = 0o077
_PRAGMAS: Final = (
    "journal_mode=DELETE",
    "synchronous=FULL",
    "secure_delete=ON",
    "trusted_schema=OFF",
)
_TABLES: Final = (
    "CREATE TABLE keystore (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, "
    "secret BLOB NOT NULL CHECK (length(secret) = 32)) STRICT",
    "CREATE TABLE subject_key (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, "
    "subject_id TEXT NOT NULL, key BLOB CHECK (length(key) = 32), "
    "UNIQUE (tenant, subject_id)) STRICT",
)
_FIND: Final = "SELECT key FROM subject_key WHERE tenant = ? AND subject_id = ?"
_ADD: Final = "INSERT INTO subject_key (tenant, subject_id, key) VALUES (?, ?, ?)"
_DESTROY: Final = "UPDATE subject_key SET key = NULL WHERE tenant = ? AND subject_id = ?"


@dataclass(slots=True)
class _Ready:
    """Users to come of one tenant, whose keys are on disk."""

    users: deque[SubjectRef] = field(default_factory=deque)
    next_batch: int = 1


class SqliteSubjectKeys:
    """Implements ``SubjectKeys``; make one with ``open_subject_keys``."""

    def __init__(self, path: Path, connection: Any) -> None:  # noqa: ANN401 - a DB-API connection
        self._path = path
        self._connection = connection
        self._lock = threading.RLock()
        self._cache: LRUCache[SubjectRef, bytes] = LRUCache(_CACHED)
        self._inode = path.stat().st_ino
        self._prepared: list[SubjectRef] = []
        self._ready: dict[str, _Ready] = {}
        name, secret = self._row("SELECT name, secret FROM keystore") or ("", b"")
        self._name, self._secret = str(name), bytes(secret)

    @property
    def name(self) -> str:
        """Return the random name of the key file."""
        return self._name

    @property
    def files(self) -> Sequence[Path]:
        """Return the file and the journal that it may have beside it."""
        return (self._path, self._path.with_name(f"{self._path.name}-journal"))

    def make(self, who: SubjectRef) -> bytes:
        """Return a new user's key; returns once it is safely on disk."""
        with self._lock:
            key = self._prepare(who)
            self._settle()
            return key

    def take(self, tenant: str, new_id: Callable[[], str]) -> SubjectRef:
        """Return a new user whose key is on disk; one flush serves twice as many each time.

        What is left of them when the service stops stays without a user.
        """
        with self._lock:
            ready = self._ready.setdefault(tenant, _Ready())
            self._require_file()
            if not ready.users:
                made = [SubjectRef(tenant, new_id()) for _ in range(ready.next_batch)]
                self._make_all(made)
                ready.users.extend(made)
                ready.next_batch = min(2 * ready.next_batch, _AHEAD)
            return ready.users.popleft()

    def _make_all(self, users: Sequence[SubjectRef]) -> None:
        made = {who: os.urandom(KEY_BYTES) for who in users}
        with self._using() as connection:
            self._settle()  # what was prepared is not undone with these
            connection.execute("BEGIN IMMEDIATE")
            self._prepared = list(users)
            rows = [(who.tenant, who.subject_id, key) for who, key in made.items()]
            try:
                connection.executemany(_ADD, rows)
            except BaseException:
                self._prepared = []
                connection.execute("ROLLBACK")
                raise
            self._cache.update(made)
            self._settle()

    def _prepare(self, who: SubjectRef) -> bytes:
        """Return a new user's key; one flush to disk, in ``_settle``, serves many."""
        with self._using() as connection:
            self._require_file()
            known = self._row(_FIND, who.tenant, who.subject_id)
            if known is not None:
                return self._known(who, known[0])
            key = os.urandom(KEY_BYTES)
            if not connection.in_transaction:
                connection.execute("BEGIN IMMEDIATE")
            self._prepared.append(who)
            connection.execute(_ADD, (who.tenant, who.subject_id, key))
            self._cache[who] = key
            return key

    def _settle(self) -> None:
        """Put what was prepared safely on disk; if that fails, none of it was made."""
        with self._using() as connection:
            if not self._prepared:
                return
            prepared, self._prepared = self._prepared, []
            try:
                connection.execute("COMMIT")
            except BaseException:
                for who in prepared:
                    self._cache.pop(who, None)
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def find(self, who: SubjectRef) -> bytes | None:
        """Return a user's key, or ``None``."""
        with self._lock:
            cached = self._cache.get(who)
        if cached is not None:
            return cached
        with self._using():
            row = self._row(_FIND, who.tenant, who.subject_id)
            if row is None or row[0] is None:
                return None
            self._cache[who] = bytes(row[0])
            return bytes(row[0])

    def key_for(self, who: SubjectRef) -> bytes:
        """Return a user's key; raises ``Unavailable`` if it is missing or was destroyed."""
        key = self.find(who)
        if key is None:
            found = self.state(who).value
            raise Unavailable(
                DEPENDENCY, f"{self._path.name} has no key for {who.subject_id} ({found})"
            )
        return key

    def state(self, who: SubjectRef) -> KeyState:
        """Return whether a key is there, was destroyed, or never was."""
        with self._using():
            row = self._row(_FIND, who.tenant, who.subject_id)
        if row is None:
            return KeyState.UNKNOWN
        return KeyState.DESTROYED if row[0] is None else KeyState.PRESENT

    def destroy(self, who: SubjectRef) -> bool:
        """Destroy a key for good; that it was destroyed stays on record."""
        self._settle()
        with self._using() as connection:
            self._require_file()
            self._cache.pop(who, None)
            row = self._row(_FIND, who.tenant, who.subject_id)
            if row is None or row[0] is None:
                return False
            connection.execute(_DESTROY, (who.tenant, who.subject_id))
            self._require_gone(bytes(row[0]))
            return True

    def blind(self, label: str, *parts: str) -> str:
        """Return a digest that only the holder of the key file can recompute."""
        return blinded(self._secret, label, *parts)

    def blind_for(self, who: SubjectRef, label: str, *parts: str) -> str:
        """Return a digest under a user's own key."""
        # Not the key itself: that one is for AES only.
        return blinded(hmac.digest(self.key_for(who), _BLINDING, "sha256"), label, *parts)

    def fault(self) -> str:
        """Return what keeps the keys from being used, or an empty text."""
        try:
            with self._using():
                self._require_file()
                self._row("SELECT count(*) FROM subject_key")
        except Unavailable as error:
            return error.detail
        return ""

    def close(self) -> None:
        """Let go of the file, and of the keys in memory."""
        with self._lock:
            try:
                self._settle()
            finally:
                self._cache.clear()
                self._connection.close()

    @contextmanager
    def _using(self) -> Iterator[Any]:
        with self._lock, _faults(self._path):
            yield self._connection

    def _row(self, statement: str, *values: str) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
        return row

    def _known(self, who: SubjectRef, key: bytes | None) -> bytes:
        if key is None:
            raise Conflict(f"The key of {who.subject_id} was destroyed.")
        self._cache[who] = bytes(key)
        return bytes(key)

    def _require_file(self) -> None:
        """Refuse to write into a file that has no name any more: it would be gone at the end."""
        try:
            same = os.stat(self._path).st_ino == self._inode  # noqa: PTH116 - half the time
        except OSError:
            same = False
        if not same:
            raise Unavailable(
                DEPENDENCY, f"{self._path} was removed or replaced while the service runs; restart"
            )

    def _require_gone(self, key: bytes) -> None:
        """Raise if a key's bytes are still in a file; pages that were rebuilt can keep a copy."""
        if self._holds(key):
            self._connection.execute("VACUUM")
        if self._holds(key):
            raise Unavailable(DEPENDENCY, "a destroyed key is still in the key file")

    def _holds(self, key: bytes) -> bool:
        return any(key in path.read_bytes() for path in self.files if path.exists())


def blinded(secret: bytes, label: str, *parts: str) -> str:
    """Return the HMAC-SHA-256 (RFC 2104), in hex, of a label and texts, each with its length."""
    encoded = [part.encode() for part in (label, *parts)]
    framed = b"".join(len(part).to_bytes(8, "big") + part for part in encoded)
    return hmac.digest(secret, framed, "sha256").hex()


def open_subject_keys(folder: Path, expected: str | None) -> SqliteSubjectKeys:
    """Open the key file of a folder; ``expected`` is the name that the database remembers.

    Without an expected name (a new database) a missing file is made, readable by its owner only.

    Raises:
        Unavailable: the file is missing although the database has one, is another database's, can
            be read by others, or cannot be used.
    """
    path = folder / FILE_NAME
    if expected is not None and not path.exists():
        raise Unavailable(
            DEPENDENCY,
            f"{path} is missing, and without it no recorded text can be read. Put it back from "
            "your copy of the key directory; it is never made anew",
        )
    with _faults(path):
        if not path.exists():
            _make(path)
        keys = SqliteSubjectKeys(path, _connect(path))
    if not keys.name or expected not in (None, keys.name):
        keys.close()
        raise Unavailable(DEPENDENCY, f"{path} belongs to another database")
    return keys


def _make(path: Path) -> None:
    """Make the file under another name, so that it appears with everything in it or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    connection = _connect(draft)
    for statement in _TABLES:
        connection.execute(statement)
    values = (f"keys_{os.urandom(12).hex()}", os.urandom(KEY_BYTES))
    connection.execute("INSERT INTO keystore (id, name, secret) VALUES (1, ?, ?)", values)
    connection.close()
    draft.rename(path)
    sync_folder(path.parent)


def _connect(path: Path) -> Any:  # noqa: ANN401 - a DB-API connection
    if os.name == "posix" and path.stat().st_mode & _OTHERS:
        raise Unavailable(DEPENDENCY, f"{path} can be read by others; run chmod 600 on it")
    connect: Callable[..., Any] = choose_driver().module.connect
    connection = connect(
        str(path), timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    error_type: type[Exception] = choose_driver().module.Error
    try:
        yield
    except error_type as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error}") from error
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error.strerror}") from error

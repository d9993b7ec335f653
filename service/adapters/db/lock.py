"""One process per data directory."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from service.adapters.db.errors import DEPENDENCY
from service.domain.errors import Unavailable

LOCK_NAME = "groundkeeper.lock"


def lock_directory(directory: Path) -> FileLock:
    """Take the data directory for this process; the kernel lets go of it if the process dies."""
    lock = FileLock(directory / LOCK_NAME, timeout=0, thread_local=False, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        detail = f"another process is using {directory}; stop it, or choose another DATA_DIR"
        raise Unavailable(DEPENDENCY, detail) from error
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot lock {directory}: {error.strerror}") from error
    return lock

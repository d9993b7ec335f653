"""Ed25519 seeds (RFC 8032: 32 random bytes) in files that only their owner can read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from service.adapters.durable import sync_folder
from service.domain.errors import Unavailable

DEPENDENCY: Final = "signing key"
SEED_BYTES: Final = 32
_OTHERS: Final = 0o077


def read_seed(path: Path) -> bytes:
    """Return the seed in a file; raises ``Unavailable`` if others could read it."""
    if os.name == "posix" and path.stat().st_mode & _OTHERS:
        raise Unavailable(DEPENDENCY, f"{path} can be read by others; run chmod 600 on it")
    return path.read_bytes()


def make_seed(path: Path) -> bytes:
    """Make a seed; if another process was faster, its seed is returned.

    The file appears under its name only once all of it is on disk.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(SEED_BYTES))
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)
    return read_seed(path)


def destroy_replaced(path: Path, successor: Path) -> None:
    """Put ``successor`` in the place of ``path``, and overwrite what was in it.

    Copies that the file system or the disk keeps by itself are out of reach.
    """
    with path.open("r+b") as old:
        successor.replace(path)
        sync_folder(path.parent)
        old.write(bytes(SEED_BYTES))
        old.flush()
        os.fsync(old.fileno())

"""Files that are whole after a power cut: replaced in one step, or appended to and flushed."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, where the platform can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Replace a file in one step: readers see the old content or the new, never a part."""
    draft = path.with_name(f"{path.name}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def append_file(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Append to a file and flush it to disk."""
    new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
    with os.fdopen(descriptor, "ab") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if new:
        sync_folder(path.parent)

"""Backups in a folder, one folder each, named by their time in UTC.

A backup is written under a name that begins with a dot and gets its own in one step, once all of it
is on disk. Folders are for their owner only (0700), and so are files (0600).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from service.adapters.backup.sealing import DEPENDENCY
from service.adapters.durable import replace_file, sync_folder
from service.domain.errors import Damaged, Unavailable
from service.ports.backup import HeldFile

_NAME: Final = re.compile(r"groundkeeper-\d{8}T\d{6}\.\d{6}Z").fullmatch
_FORM: Final = "groundkeeper-%Y%m%dT%H%M%S.%fZ"
_PART: Final = ".part"
_LOCK: Final = ".backup.lock"
_SMALL: Final = 1 << 20
_CHUNK: Final = 1 << 20


class FolderShelf:
    """Implements ``BackupShelf``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def draft(self, at: datetime) -> Iterator[FolderDraft]:
        """Begin a backup; what is not published is removed at the end."""
        name = at.astimezone(UTC).strftime(_FORM)
        draft = self._folder / f".{name}{_PART}"
        with self._locked():
            with _reported(self._folder):
                for left in self._folder.glob(f".groundkeeper-*{_PART}"):  # of one that was killed
                    shutil.rmtree(left)
                draft.mkdir(mode=0o700)
            try:
                yield FolderDraft(draft, self._folder / name)
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def names(self) -> Sequence[str]:
        """Return the names of folders that may be backups, oldest first."""
        with _reported(self._folder):
            found = (p.name for p in self._folder.iterdir() if p.is_dir() and not p.is_symlink())
            return sorted(name for name in found if _NAME(name))

    def open(self, name: str) -> FolderBackup:
        """Return one of them."""
        return FolderBackup(self._folder / name)

    def remove(self, name: str) -> None:
        """Delete one; it loses its name first."""
        doomed = self._folder / f".{name}.removed"
        with _reported(self._folder):
            (self._folder / name).rename(doomed)
            sync_folder(self._folder)
            shutil.rmtree(doomed)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self._folder / _LOCK, timeout=0, mode=0o600)
        with _reported(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                lock.acquire()
            except Timeout as error:
                detail = f"another backup is being written to {self._folder}"
                raise Unavailable(DEPENDENCY, detail) from error
        try:
            yield
        finally:
            lock.release()


class FolderDraft:
    """Implements ``BackupDraft``."""

    def __init__(self, folder: Path, final: Path) -> None:
        self._folder = folder
        self._final = final

    def path(self, name: str) -> Path:
        """Return where a file of it belongs."""
        return self._folder / name

    def write(self, name: str, content: bytes) -> None:
        """Write a small file."""
        with _reported(self._folder):
            replace_file(self._folder / name, content)

    def files(self) -> Mapping[str, HeldFile]:
        """Return what was written, flushed to disk."""
        with _reported(self._folder):
            found = sorted(self._folder.iterdir())
            for path in found:
                _flush(path)
            return {path.name: _held(path, hashed=True) for path in found}

    def publish(self) -> Path:
        """Give it its name, in one step."""
        with _reported(self._final):
            sync_folder(self._folder)
            self._folder.rename(self._final)
            sync_folder(self._final.parent)
        return self._final


class FolderBackup:
    """Implements ``BackupFolder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes:
        """Return a small file of it."""
        path = self.path(name)
        if self.held(name, hashed=False).bytes > _SMALL:
            raise Damaged(DEPENDENCY, f"{path} is not a file of a backup")
        with _reported(path):
            return path.read_bytes()

    def held(self, name: str, *, hashed: bool = True) -> HeldFile:
        """Return what a file is."""
        path = self.path(name)
        if path.is_symlink() or not path.is_file():
            raise Damaged(DEPENDENCY, f"there is no file {path}")
        with _reported(path):
            return _held(path, hashed=hashed)

    def path(self, name: str) -> Path:
        """Return where a file of it is; raises ``Damaged`` for a name that leads elsewhere."""
        if Path(name).name != name:
            raise Damaged(DEPENDENCY, "its manifest names a file that is not in it")
        return self._folder / name


def _held(path: Path, *, hashed: bool) -> HeldFile:
    if not hashed:
        return HeldFile("", path.stat().st_size)
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            digest.update(block)
            size += len(block)
    return HeldFile(digest.hexdigest(), size)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error.strerror}") from error

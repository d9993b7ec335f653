"""The store of checkpoints: a folder that anybody can read without our code.

``latest.txt`` is the last signed note and the only file that decides; it is replaced in one step,
under a lock, and only by whoever names what it replaces. ``checkpoints.txt`` repeats every note
with a blank line between two, to be copied to where nobody here can change it. ``rotations.txt``
repeats those that two keys have signed. ``archive/`` holds what an operator put aside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from service.adapters.durable import append_file, replace_file, sync_folder
from service.audit.errors import VerificationError
from service.audit.notes import split_notes
from service.domain.errors import Conflict, Unavailable
from service.ports.checkpoints import StoredNote

DEPENDENCY: Final = "checkpoint store"
_LATEST: Final = "latest.txt"
_ALL: Final = "checkpoints.txt"
_ROTATIONS: Final = "rotations.txt"
_ARCHIVE: Final = "archive"
_LOCK: Final = "store.lock"
_LOCK_SECONDS: Final = 10
_MODE: Final = 0o644
_DASH: Final = "\N{EM DASH} "
_TAIL: Final = 1 << 16
_SIGNATURE: Final = 92  # base64 of a key id and an Ed25519 signature, 4 + 64 bytes


class FileCheckpointStore:
    """Implements ``CheckpointStore``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> StoredNote | None:
        """Return the last note, or ``None`` if there is no store."""
        with self._reported():
            return self._read()

    def create(self, note: str) -> StoredNote:
        """Make the store with its first note."""
        with self._reported():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked():
                if self._read() is not None:
                    raise Conflict("There is a checkpoint store already.")
                return self._put(note)

    def swap(self, expected: str, note: str) -> StoredNote:
        """Replace ``expected`` by ``note``; returns once that is safely on disk."""
        with self._reported():
            if not self._folder.is_dir():
                raise Unavailable(DEPENDENCY, f"{self._folder} is gone")
            with self._locked():
                found = self._read()
                if found is None or found.note != expected:
                    raise Conflict("Another checkpoint was stored in the meantime.")
                return self._put(note)

    def archive(self, reason: str) -> str | None:
        """Put everything aside as evidence; returns where, or ``None`` if there was nothing."""
        with self._reported():
            if not self._folder.is_dir():
                return None
            with self._locked():
                names = (_ALL, _ROTATIONS, _LATEST)
                found = [self._folder / n for n in names if (self._folder / n).exists()]
                return self._move(found, reason) if found else None

    def rotations(self) -> tuple[str, ...]:
        """Return the notes that two keys have signed, oldest first."""
        with self._reported():
            path = self._folder / _ROTATIONS
            return split_notes(_text(path)) if path.exists() else ()

    def _read(self) -> StoredNote | None:
        path = self._folder / _LATEST
        if path.exists():
            moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            return StoredNote(_text(path), moment)
        if (self._folder / _ALL).exists():
            raise Unavailable(DEPENDENCY, f"{self._folder} has {_ALL} but no {_LATEST}")
        return None

    def _put(self, note: str) -> StoredNote:
        """Replace the note that decides, then repeat it for whoever reads the other files.

        A crash between the two leaves the files behind by one note, which the next call adds.
        """
        before = self._read()
        for name in (_ALL, _ROTATIONS):
            if before is not None:
                self._repeat(name, before.note)
        replace_file(self._folder / _LATEST, note.encode(), mode=_MODE)
        for name in (_ALL, _ROTATIONS):
            self._repeat(name, note)
        stored = self._read()
        if stored is None or stored.note != note:
            raise Unavailable(DEPENDENCY, "what was written is not what is there")
        return stored

    def _repeat(self, name: str, note: str) -> None:
        if name == _ROTATIONS and note.count(f"\n{_DASH}") == 1:
            return
        path, data = self._folder / name, note.encode()
        _cut_torn(path)
        end = _end(path, len(data))
        if end != data:
            append_file(path, (b"\n" if end else b"") + data, mode=_MODE)

    def _move(self, found: list[Path], reason: str) -> str:
        moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
        target = self._folder / _ARCHIVE / moment
        target.mkdir(parents=True, mode=0o700)
        replace_file(target / "why.txt", f"{reason}\n".encode(), mode=_MODE)
        for path in found:
            path.replace(target / path.name)
        sync_folder(self._folder)
        return str(target)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self._folder / _LOCK, timeout=_LOCK_SECONDS, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            raise Unavailable(DEPENDENCY, f"{self._folder} is in use") from error
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Unavailable(DEPENDENCY, f"cannot use {self._folder}: {error.strerror}") from error
        except (UnicodeDecodeError, VerificationError) as error:
            raise Unavailable(DEPENDENCY, f"{self._folder} holds a damaged file") from error


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def _cut_torn(path: Path) -> None:
    """Take away the part of a note that a crash left at the end, which nobody can have used."""
    end = _end(path, _TAIL)
    whole = _whole(end)
    if whole < len(end) and (whole or len(end) < _TAIL):
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - len(end) + whole)
            os.fsync(file.fileno())


def _whole(data: bytes) -> int:
    """Return how far the last complete signature line reaches."""
    end = len(data)
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        line = data[start:end]
        if line.startswith(_DASH.encode()) and len(line.split(b" ")[-1]) > _SIGNATURE:
            return end
        end = start
    return 0


def _end(path: Path, length: int) -> bytes:
    """Return the last bytes of a file, as many as there are of so many."""
    if not path.exists():
        return b""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - length))
        return file.read()

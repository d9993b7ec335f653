"""The folders of an index: ``gen-N`` beside each other, and a file that says which one serves.

A number is never used twice, so nobody who still has an old folder open can meet a new one.
A folder that is in use has no seal: one that was not closed properly is never trusted again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

_POINTER = "CURRENT"
_SEAL = "sealed.json"
_NAME = re.compile(r"gen-(\d{1,9})(\.quarantined)?")


@dataclass(frozen=True, slots=True)
class Seal:
    """What a closed folder holds: whose model's vectors, and each collection's position."""

    digest: str
    positions: Mapping[str, int]


class Generations:
    """Keeps the folders below one directory; not thread-safe."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._last = 0

    def current(self) -> Path | None:
        """Return the folder that serves, if the pointer names one that is there."""
        try:
            name = (self._root / _POINTER).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        folder = self._root / name
        return folder if _NAME.fullmatch(name) and folder.is_dir() else None

    def fresh(self) -> Path:
        """Make the next folder; it does not serve yet."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = (_NAME.match(path.name) for path in self._root.iterdir())
        used = [int(match[1]) for match in found if match]
        self._last = max([self._last, *used]) + 1
        folder = self._root / f"gen-{self._last}"
        folder.mkdir(mode=0o700)
        return folder

    def promote(self, folder: Path) -> None:
        """Let a folder serve from now on, atomically, and delete all others."""
        draft = self._root / f"{_POINTER}.new"
        with draft.open("w", encoding="ascii") as file:
            file.write(f"{folder.name}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._root / _POINTER)
        _sync(self._root)

    def quarantine(self, folder: Path) -> None:
        """Put a folder aside under a name that nothing opens, if it is still there."""
        aside = folder.with_name(f"{folder.name}.quarantined")
        if folder.is_dir():
            shutil.rmtree(aside, ignore_errors=True)
            folder.rename(aside)

    def others(self) -> list[Path]:
        """Return every folder that does not serve."""
        keep = self.current()
        return [path for path in self._folders() if path != keep]

    def sweep(self) -> tuple[str, ...]:
        """Delete every folder that does not serve, those put aside too; return their names."""
        self._last = max([self._last, *(_number(path) for path in self._folders())])
        gone = self.others()
        for path in gone:
            shutil.rmtree(path, ignore_errors=True)
        return tuple(sorted(path.name for path in gone if not path.exists()))

    def _folders(self) -> list[Path]:
        if not self._root.is_dir():
            return []
        return [p for p in self._root.iterdir() if p.is_dir() and _NAME.fullmatch(p.name)]

    def drop(self) -> None:
        """Let no folder serve, and delete them all."""
        (self._root / _POINTER).unlink(missing_ok=True)
        self.sweep()


def close_properly(folder: Path, seal: Seal) -> None:
    """Say that a folder was closed with everything in it."""
    if folder.is_dir():
        draft = folder / f"{_SEAL}.new"
        draft.write_text(json.dumps(asdict(seal)), encoding="ascii")
        draft.replace(folder / _SEAL)


def break_seal(folder: Path) -> Seal | None:
    """Take a folder into use: return its seal, which is gone from now on, or None without one."""
    path = folder / _SEAL
    try:
        said = json.loads(path.read_text(encoding="ascii"))
        seal = Seal(str(said["digest"]), {str(k): int(v) for k, v in said["positions"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        seal = None
    path.unlink(missing_ok=True)
    return seal


def _number(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else 0


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Backups: what is copied from, and the folder they are kept in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from service.audit.verify import Anchors
from service.ports.storage import Database
from service.ports.subject_keys import SubjectRef


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied: the state of the log, and how the rows are kept.

    ``root`` is in hex. ``encrypted`` names the columns that only their user's key opens, by table,
    ``left_out`` the tables that are empty in the copy.
    """

    origin: str
    size: int
    root: str
    schema_revision: str
    key_file: str
    rows: Mapping[str, int]
    encrypted: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file of a backup: its SHA-256 in hex, and its size in bytes."""

    sha256: str
    bytes: int


class BackupSource(Protocol):
    """A database that may be in use."""

    def copy(self, target: Path, anchors: Anchors) -> Copied:
        """Copy one state of it into a new file, with everything personal encrypted.

        Raises:
            Damaged: what would be copied does not verify.
            Conflict: a user was erased meanwhile; try again.
            Unavailable: it cannot be read, a user's key is missing, or the file cannot be written.
        """
        ...


class BackupDraft(Protocol):
    """A backup that is being written and has no name yet."""

    def path(self, name: str) -> Path:
        """Return where a file of it belongs."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Write a small file."""
        ...

    def files(self) -> Mapping[str, HeldFile]:
        """Return what was written, flushed to disk."""
        ...

    def publish(self) -> Path:
        """Give it its name, in one step; returns where it is."""
        ...


class BackupShelf(Protocol):
    """The folder that backups are kept in, one folder each; all raise ``Unavailable``."""

    def draft(self, at: datetime) -> AbstractContextManager[BackupDraft]:
        """Begin a backup named by its time; what is not published is removed at the end."""
        ...

    def names(self) -> Sequence[str]:
        """Return the names of folders that may be backups, oldest first."""
        ...

    def open(self, name: str) -> BackupFolder:
        """Return one of them."""
        ...

    def remove(self, name: str) -> None:
        """Delete one; it loses its name first."""
        ...


class BackupFolder(Protocol):
    """One backup, as it was found; nothing in it can be trusted before it was verified."""

    def read(self, name: str) -> bytes:
        """Return a small file of it; raises ``Damaged`` where it is missing or too large."""
        ...

    def held(self, name: str, *, hashed: bool = True) -> HeldFile:
        """Return what a file is; without ``hashed`` its digest is empty."""
        ...

    def path(self, name: str) -> Path:
        """Return where a file of it is."""
        ...


@dataclass(frozen=True, slots=True)
class Unsealed:
    """What was made of a backup.

    Attributes:
        destroyed: users whose key was destroyed; their rows stay encrypted.
        touched: users of whom something was erased that the backup does not know of.
    """

    destroyed: tuple[SubjectRef, ...]
    touched: tuple[SubjectRef, ...]


class Staging(Protocol):
    """A database beside the one that it is going to replace; nobody uses it yet."""

    def fill(self, database: Path, encrypted: Mapping[str, tuple[str, ...]]) -> Unsealed:
        """Copy a backup's database, each row decrypted under its user's key.

        Raises:
            Damaged: a row is not what was encrypted.
            Unavailable: a user's key is missing, the key file is another one's, or the disk fails.
        """
        ...

    def open(self, origin: str) -> AbstractContextManager[Database]:
        """Open it, bringing its schema up to date; ``origin`` is the name its log must have."""
        ...

    def put_in_place(self) -> Path | None:
        """Let it take the place of what is there; returns where that was put, if anything was."""
        ...


class RestoreTarget(Protocol):
    """The data directory of a service that does not run."""

    def staging(self, *, replace: bool) -> AbstractContextManager[Staging]:
        """Begin; the directory is locked, and what is not put in place is removed at the end.

        Raises:
            Conflict: there is a database, and ``replace`` was not said.
            Unavailable: the service is running, or the directory cannot be used.
        """
        ...

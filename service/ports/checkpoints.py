"""Signed checkpoints: where the last one is kept, and the keys that sign them.

The store is small, lies outside the database, and decides by compare-and-swap: whoever wants to
put the next checkpoint names the one it follows. It is made together with a new log, never later
by itself, so that a log whose store is gone cannot pass for a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from service.audit.notes import Checkpoint


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A signed note as it is in the store, and when it was put there."""

    note: str
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint whose signature was checked, with its note and when it was stored."""

    checkpoint: Checkpoint
    note: str
    stored_at: datetime


class CheckpointStore(Protocol):
    """Keeps the last signed note, and every one before it in a file to publish."""

    def read(self) -> StoredNote | None:
        """Return the last note, or ``None`` if there is no store.

        Raises ``Unavailable`` if the store cannot be read, or a part of it is gone.
        """
        ...

    def create(self, note: str) -> StoredNote:
        """Make the store with its first note.

        Raises ``Conflict`` if there is one, and ``Unavailable`` if it cannot be written.
        """
        ...

    def swap(self, expected: str, note: str) -> StoredNote:
        """Replace ``expected`` by ``note``; returns once that is safely on disk.

        Raises ``Conflict`` if another note is there, and ``Unavailable`` if it cannot be written;
        then the note may not be handed out.
        """
        ...

    def archive(self, reason: str) -> str | None:
        """Put everything aside as evidence; returns where, or ``None`` if there was nothing."""
        ...

    def rotations(self) -> tuple[str, ...]:
        """Return the notes that two keys have signed, oldest first."""
        ...


class LogKey(Protocol):
    """One private Ed25519 key."""

    @property
    def public(self) -> bytes:
        """Return the public half, 32 bytes."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        ...


class LogKeys(Protocol):
    """The key that signs checkpoints, the one that will, and the public halves of past ones.

    Everything raises ``Unavailable`` for a key that cannot be used, for example because others
    could read it.
    """

    def current(self) -> LogKey | None:
        """Return the key that signs now."""
        ...

    def make(self) -> LogKey:
        """Return the key that signs now; a missing one is made."""
        ...

    def next(self) -> LogKey | None:
        """Return the key of a rotation that was begun and not finished."""
        ...

    def make_next(self) -> LogKey:
        """Return the next key; a missing one is made."""
        ...

    def retired(self) -> tuple[str, ...]:
        """Return the public keys that signed before, as text, oldest first."""
        ...

    def publish(self, current: str) -> None:
        """Write the public key that signs now, as text, beside the private one."""
        ...

    def finish(self, old: str, new: str) -> None:
        """Let the next key sign from now on and destroy the private half of the old one.

        ``old`` and ``new`` are the public keys as text. Doing it again changes nothing.
        """
        ...

    def check(self, public: bytes, message: bytes, signature: bytes) -> bool:
        """Return whether a public key signed a message."""
        ...


class Board:
    """The last checkpoint that may be handed out; one thread posts, everybody reads."""

    def __init__(self) -> None:
        self._last: SignedCheckpoint | None = None

    @property
    def last(self) -> SignedCheckpoint | None:
        """Return what was posted last."""
        return self._last

    def note(self) -> str | None:
        """Return the note that was posted last."""
        return None if self._last is None else self._last.note

    def post(self, last: SignedCheckpoint | None) -> None:
        """Replace what is shown."""
        self._last = last

"""One random key per user: what is encrypted under it is unreadable once the key is destroyed.

The keys are kept outside the data directory, so that copies of the database and backups, which
nobody can call back, become unreadable too. A key is made with the opaque id of its user, some of
them ahead of the user, and never again: one that is gone is reported, never replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

KEY_BYTES = 32


class KeyState(StrEnum):
    """What became of a user's key."""

    PRESENT = "present"
    DESTROYED = "destroyed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SubjectRef:
    """One user of one tenant, by the opaque id."""

    tenant: str
    subject_id: str


class SubjectKeys(Protocol):
    """Keeps the keys; every method may be called from any thread.

    All raise ``Unavailable`` when the key file cannot be used.
    """

    @property
    def name(self) -> str:
        """Return the random name of the key file, which the database remembers."""
        ...

    @property
    def files(self) -> Sequence[Path]:
        """Return the files that hold keys, for whoever searches for what must be gone."""
        ...

    def make(self, who: SubjectRef) -> bytes:
        """Return a new user's key; returns once it is safely on disk.

        The same user again gets the same key. Raises ``Conflict`` for one that was destroyed.
        """
        ...

    def take(self, tenant: str, new_id: Callable[[], str]) -> SubjectRef:
        """Return a new user whose key is safely on disk.

        ``new_id`` makes opaque ids; keys are made some at a time, ahead of the users that get them.
        """
        ...

    def find(self, who: SubjectRef) -> bytes | None:
        """Return a user's key, or ``None`` if there is none (any more); ``state`` says which."""
        ...

    def key_for(self, who: SubjectRef) -> bytes:
        """Return a user's key; raises ``Unavailable`` if it is missing or was destroyed."""
        ...

    def state(self, who: SubjectRef) -> KeyState:
        """Return whether a key is there, was destroyed, or never was."""
        ...

    def destroy(self, who: SubjectRef) -> bool:
        """Destroy a key for good; return whether there was one.

        That it was destroyed stays on record. Raises ``Unavailable`` if its bytes are still in a
        file afterwards.
        """
        ...

    def blind(self, label: str, *parts: str) -> str:
        """Return a digest (hex) of texts that only the holder of the key file can recompute.

        HMAC-SHA-256 (RFC 2104) under the file's own secret over ``label`` and the parts, each with
        its length.
        """
        ...

    def blind_for(self, who: SubjectRef, label: str, *parts: str) -> str:
        """Return such a digest under a user's own key: it means nothing once that is destroyed.

        Raises ``Unavailable`` if the key is not there.
        """
        ...

    def fault(self) -> str:
        """Return what keeps the keys from being used, or an empty text."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...

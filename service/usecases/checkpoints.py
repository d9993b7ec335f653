"""Signing checkpoints of the log, and refusing to where the log does not continue the last one.

A log that is smaller than its last checkpoint, or other than it, was replaced by an older copy,
cut, rewritten or wiped. Signing it would vouch for that, and writing to it would bury it: so
nothing is signed, and the database is frozen until somebody has looked.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from service.audit.errors import VerificationError
from service.audit.notes import VerifierKey
from service.domain.errors import Conflict, ReadOnly, Unavailable
from service.ports.checkpoints import Board, CheckpointStore, LogKey, LogKeys, SignedCheckpoint
from service.ports.clock import Clock
from service.ports.storage import SYSTEM, Database
from service.usecases.checkpoint_checks import (
    REFUSED,
    continued,
    finish_rotation,
    is_signed_by,
    read_last,
    signed_note,
)


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """Where signing stands.

    ``refused`` says why nothing is signed and nothing written any more, ``trouble`` why the last
    attempt failed although the log is well; ``age_seconds`` is that of ``last``.
    """

    last: SignedCheckpoint | None
    uncovered: int
    age_seconds: float | None
    refused: str | None
    trouble: str | None


class Checkpoints:
    """Signs what was committed, one checkpoint after the other; safe for any thread."""

    def __init__(
        self,
        *,
        database: Database,
        store: CheckpointStore,
        keys: LogKeys,
        board: Board,
        clock: Clock,
    ) -> None:
        self._database = database
        self._store = store
        self._keys = keys
        self._board = board
        self._clock = clock
        self._lock = threading.Lock()
        self._key: LogKey | None = None
        self._refused: str | None = None
        self._trouble: str | None = None

    def start(self) -> None:
        """Compare the log with its last checkpoint; where it is not a continuation, freeze.

        Raises ``Unavailable`` for a key that cannot be used.
        """
        with self._lock:
            self._key = self._keys.current()
            successor = self._keys.next()
            try:
                self._take_stored(successor)
            except (Unavailable, VerificationError) as error:
                self._refuse(getattr(error, "detail", str(error)))

    def sign(self) -> SignedCheckpoint | None:
        """Sign what was committed since the last checkpoint; returns the new one, if any.

        A failure is kept for ``state`` and tried again by the next call.
        """
        with self._lock:
            if self._refused is not None:
                return None
            try:
                signed = self._sign()
            except (Unavailable, VerificationError) as error:
                if isinstance(error, Unavailable) and not isinstance(error, ReadOnly):
                    self._trouble = str(error)
                else:
                    self._refuse(getattr(error, "detail", str(error)))
                return None
            self._trouble = None
            return signed

    def latest(self) -> str | None:
        """Return the last signed note."""
        return self._board.note()

    def uncovered(self) -> int:
        """Return how many entries were committed since the last checkpoint."""
        size = self._database.read(SYSTEM, lambda tx: tx.audit.head().size)
        last = self._board.last
        return size if last is None else max(0, size - last.checkpoint.size)

    def state(self) -> CheckpointState:
        """Return where signing stands."""
        last = self._board.last
        age = None if last is None else (self._clock.now() - last.stored_at).total_seconds()
        return CheckpointState(
            last=last,
            uncovered=self.uncovered(),
            age_seconds=None if age is None else max(0.0, age),
            refused=self._refused,
            trouble=self._trouble,
        )

    @property
    def refused(self) -> str | None:
        """Return why nothing is signed and nothing written any more."""
        return self._refused

    @property
    def trouble(self) -> str | None:
        """Return why the last attempt to sign failed although the log is well."""
        return self._trouble

    def keys(self) -> tuple[str, ...]:
        """Return the public keys as text: the one that signs now, then those before it."""
        retired = tuple(reversed(self._keys.retired()))
        last = self._board.last
        if self._key is None or last is None:
            return retired
        return (VerifierKey(last.checkpoint.origin, self._key.public).text(), *retired)

    def rotations(self) -> tuple[str, ...]:
        """Return the notes in which one key handed over to the next."""
        return self._store.rotations()

    def _sign(self) -> SignedCheckpoint | None:
        last, key = self._board.last, self._key
        if last is None or key is None:
            raise ReadOnly(REFUSED, "signing was never begun")
        now = self._database.read(SYSTEM, lambda tx: continued(tx, last.checkpoint))
        if now.size == last.checkpoint.size:
            return None
        note = signed_note(now, key)
        try:
            stored = self._store.swap(last.note, note)
        except Conflict:  # somebody else signed: whatever that is, the log has to continue it
            self._take_stored(self._keys.next())
            return None
        signed = SignedCheckpoint(now, note, stored.stored_at)
        self._board.post(signed)
        return signed

    def _take_stored(self, successor: LogKey | None) -> None:
        """Post the stored checkpoint, signed by our key, if the log continues it."""
        last = read_last(self._store, self._keys)
        if successor is not None and is_signed_by(last.note, successor, self._keys):
            self._key = finish_rotation(self._keys, last.checkpoint.origin)
        self._board.post(last)
        self._database.read(SYSTEM, lambda tx: continued(tx, last.checkpoint))
        if self._key is not None:
            self._keys.publish(VerifierKey(last.checkpoint.origin, self._key.public).text())

    def _refuse(self, reason: str) -> None:
        self._refused = reason
        self._database.freeze(reason)

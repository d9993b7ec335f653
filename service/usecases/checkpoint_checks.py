"""Reading the last checkpoint, and proving that the log continues it."""

from __future__ import annotations

from typing import Final

from service.audit.errors import VerificationError
from service.audit.notes import (
    Checkpoint,
    VerifierKey,
    checkpoint_text,
    note_text,
    open_note,
    parse_checkpoint,
    sign_note,
)
from service.audit.tree import consistency_proof, verify_consistency
from service.domain.errors import ReadOnly
from service.ports.checkpoints import (
    CheckpointStore,
    LogKey,
    LogKeys,
    SignedCheckpoint,
    StoredNote,
)
from service.ports.storage import Transaction

REFUSED: Final = "audit log"
_ADOPT: Final = "`groundkeeper checkpoint adopt`"
_OPENED: Final = 1  # entries of a log that was only just made


def current(tx: Transaction) -> Checkpoint:
    """Return what the log is now, unsigned."""
    head = tx.audit.head()
    return Checkpoint(head.origin, head.size, tx.audit.root(head.size))


def continued(tx: Transaction, last: Checkpoint) -> Checkpoint:
    """Return what the log is now, having proved that it continues ``last``.

    Raises ``ReadOnly`` saying how it does not.
    """
    now = current(tx)
    if now.origin != last.origin:
        raise ReadOnly(
            REFUSED,
            f"the log {now.origin} is not the one of the last checkpoint, {last.origin}: the "
            "database was wiped or replaced, or the checkpoint store belongs to another one",
        )
    if now.size < last.size:
        raise ReadOnly(
            REFUSED,
            f"the log has {now.size} entries, the last checkpoint {last.size}: an old copy was "
            "restored, or the end was cut off",
        )
    if last.size == 0 and now.size > _OPENED:
        raise ReadOnly(REFUSED, "the log has grown without a checkpoint since it was made")
    try:
        proof = consistency_proof(last.size, now.size, tx.audit.node)
        verify_consistency(last.size, now.size, last.root, now.root, proof)
    except VerificationError as error:
        raise ReadOnly(
            REFUSED,
            f"the first {last.size} entries are not those of the last checkpoint ({error}): "
            "history was rewritten",
        ) from error
    return now


def read_last(store: CheckpointStore, keys: LogKeys) -> SignedCheckpoint:
    """Return the stored checkpoint; raises ``ReadOnly`` unless a key of ours signed it."""
    stored = store.read()
    if stored is None:
        raise ReadOnly(
            REFUSED,
            "there is no checkpoint store for this log. If it was lost, put it back; for a log "
            f"from before there were checkpoints, run {_ADOPT}",
        )
    found = [key for key in (keys.current(), keys.next()) if key is not None]
    if not found:
        raise ReadOnly(REFUSED, f"the signing key log.key is gone; put it back, or run {_ADOPT}")
    return checked(stored, found, keys)


def checked(stored: StoredNote, found: list[LogKey], keys: LogKeys) -> SignedCheckpoint:
    """Return a stored note as a checkpoint; raises ``ReadOnly`` unless one of the keys signed."""
    try:
        claimed = parse_checkpoint(note_text(stored.note))
        known = [VerifierKey(claimed.origin, key.public) for key in found]
        open_note(stored.note, known, keys.check)
    except VerificationError as error:
        raise ReadOnly(
            REFUSED, f"the stored checkpoint is not one that the key here has signed ({error})"
        ) from error
    return SignedCheckpoint(claimed, stored.note, stored.stored_at)


def signed_note(checkpoint: Checkpoint, key: LogKey) -> str:
    """Return a checkpoint as a note; the key signs under the log's name."""
    named = VerifierKey(checkpoint.origin, key.public)
    return sign_note(checkpoint_text(checkpoint), named, key.sign)


def is_signed_by(note: str, key: LogKey, keys: LogKeys) -> bool:
    """Return whether a key has signed a note."""
    try:
        name = parse_checkpoint(note_text(note)).origin
        open_note(note, [VerifierKey(name, key.public)], keys.check)
    except VerificationError:
        return False
    return True


def finish_rotation(keys: LogKeys, origin: str) -> LogKey | None:
    """Let the next key take over, once both have signed a stored checkpoint."""
    old, new = keys.current(), keys.next()
    if old is not None and new is not None:
        named = (VerifierKey(origin, key.public).text() for key in (old, new))
        keys.finish(*named)
    return keys.current()

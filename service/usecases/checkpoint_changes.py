"""What an operator does about checkpoints while the service is stopped: begin, adopt, rotate."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from service.audit.entry import EntryDraft, parse_entry
from service.audit.errors import VerificationError
from service.audit.notes import (
    Checkpoint,
    VerifierKey,
    add_signature,
    note_text,
    parse_checkpoint,
)
from service.audit.tree import EMPTY_ROOT
from service.domain.errors import Conflict, InvalidInput, ReadOnly, Unavailable
from service.ports.checkpoints import CheckpointStore, LogKey, LogKeys, StoredNote
from service.ports.storage import SYSTEM, AuditFilter, Database, PageRequest, Transaction
from service.usecases.checkpoint_checks import (
    continued,
    current,
    finish_rotation,
    is_signed_by,
    read_last,
    signed_note,
)

ROTATED = "key.rotated"


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was vouched for: the note, the number of the entry that says so, what was put aside."""

    note: str
    seq: int
    archived: str | None


@dataclass(frozen=True, slots=True)
class Rotated:
    """Which key signs now and which did before, as text, and the note that both have signed."""

    old: str
    new: str
    note: str


def begin(store: CheckpointStore, keys: LogKeys, origin: str) -> None:
    """Make the store of a new log, with the checkpoint of no entries.

    A store that has covered a log stays as it is: the new log will not be taken for that one.

    Raises:
        InvalidInput: a log of this name could never be signed.
        Unavailable: the key or the store cannot be made.
    """
    try:
        found = store.read()
    except Unavailable:
        return
    if found is not None and not _unused(found):
        return
    try:
        first = signed_note(Checkpoint(origin, 0, EMPTY_ROOT), keys.make())
    except VerificationError as error:
        raise InvalidInput("ORIGIN", f"cannot be signed for: {error}") from error
    if found is not None:
        store.archive("A new log was to be made; nothing had been written to it.")
    store.create(first)


def adopt(
    database: Database,
    store: CheckpointStore,
    keys: LogKeys,
    *,
    reason: str,
    kind: str = "checkpoint.adopted",
) -> Adopted:
    """Vouch for the log as it is now, whatever was signed before; the old store is put aside.

    The entry that records it has the SHA-256 of the last stored note as its state before (nothing
    if there was none), and the root of the log that was adopted as its state after.

    Raises:
        Conflict: the log continues its last checkpoint; there is nothing to adopt.
        Unavailable: a key, the store or the database cannot be used.
    """
    if _continues(database, store, keys):
        raise Conflict("The log continues its last checkpoint; there is nothing to adopt.")
    before = _last_note(store)
    key = keys.make()
    archived = store.archive("\n".join((reason, *_known_keys(before, key, keys))))

    def work(tx: Transaction) -> int:
        draft = EntryDraft(
            kind=kind,
            actor=tx.scope.actor,
            state_before=None if before is None else _sha256(before.encode()),
            state_after=current(tx).root.hex(),
        )
        return tx.audit.append(draft, {}).seq

    seq = database.write(SYSTEM, work)
    now = database.read(SYSTEM, current)
    note = signed_note(now, key)
    store.create(note)
    keys.publish(VerifierKey(now.origin, key.public).text())
    return Adopted(note, seq, archived)


def rotate(database: Database, store: CheckpointStore, keys: LogKeys) -> Rotated:
    """Let a new key sign from now on; going on where an earlier call was interrupted.

    The log gets a ``key.rotated`` entry with the SHA-256 of both public keys, and both keys sign
    the checkpoint that covers it: whoever trusts the old one can follow to the new one.

    Raises:
        ReadOnly: the log does not continue its last checkpoint.
        Unavailable: a key, the store or the database cannot be used.
    """
    last = read_last(store, keys)
    database.read(SYSTEM, lambda tx: continued(tx, last.checkpoint))
    old = keys.current()
    if old is None:
        raise ReadOnly("audit log", "the signing key log.key is gone")
    new = keys.make_next()
    note = last.note
    if not is_signed_by(note, new, keys):
        _record(database, old, new)
        now = database.read(SYSTEM, lambda tx: continued(tx, last.checkpoint))
        named = VerifierKey(now.origin, new.public)
        note = add_signature(signed_note(now, old), named, new.sign)
        store.swap(last.note, note)
    origin = last.checkpoint.origin
    finish_rotation(keys, origin)
    before, after = VerifierKey(origin, old.public), VerifierKey(origin, new.public)
    return Rotated(before.text(), after.text(), note)


def _record(database: Database, old: LogKey, new: LogKey) -> None:
    """Append the entry of a rotation, unless an interrupted one has done so."""
    before, after = _sha256(old.public), _sha256(new.public)

    def work(tx: Transaction) -> None:
        rows = tx.audit.list(AuditFilter(action=ROTATED), PageRequest(limit=1)).items
        if rows and parse_entry(rows[0].entry).draft.state_after == after:
            return
        draft = EntryDraft(
            kind=ROTATED, actor=tx.scope.actor, state_before=before, state_after=after
        )
        tx.audit.append(draft, {})

    database.write(SYSTEM, work)


def _continues(database: Database, store: CheckpointStore, keys: LogKeys) -> bool:
    try:
        last = read_last(store, keys)
        database.read(SYSTEM, lambda tx: continued(tx, last.checkpoint))
    except (Unavailable, VerificationError):
        return False
    return True


def _last_note(store: CheckpointStore) -> str | None:
    try:
        found = store.read()
    except Unavailable:
        return None
    return None if found is None else found.note


def _known_keys(note: str | None, key: LogKey, keys: LogKeys) -> tuple[str, ...]:
    """Return the public keys as text, under the name of the log that a note is of."""
    if note is None:
        return keys.retired()
    try:
        name = parse_checkpoint(note_text(note)).origin
    except VerificationError:
        return keys.retired()
    return (VerifierKey(name, key.public).text(), *keys.retired())


def _unused(found: StoredNote) -> bool:
    try:
        return parse_checkpoint(note_text(found.note)).size == 0
    except VerificationError:
        return False


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

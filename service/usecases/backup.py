"""Making backups of a service that runs, and keeping only so many of them.

The newest signed checkpoint is read before the database is looked at, so that the copy always
continues it. The manifest is signed too, with the size and the root of the copy: it vouches for the
entries that the checkpoint does not cover yet. What does not verify is never kept as a backup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Final

from service.audit.entry import EntryDraft
from service.audit.notes import VerifierKey, sign_note
from service.audit.verify import Anchors
from service.domain.errors import Conflict, GroundkeeperError, ReadOnly
from service.ports.backup import BackupDraft, BackupShelf, BackupSource, Copied
from service.ports.checkpoints import CheckpointStore, LogKey, LogKeys, SignedCheckpoint
from service.ports.clock import Clock
from service.ports.storage import SYSTEM, Database, Transaction
from service.usecases.backup_manifest import (
    CHECKPOINT,
    DATABASE,
    KEYS,
    MANIFEST,
    ROTATIONS,
    SIGNATURE,
    Manifest,
    digest_of,
    open_manifest,
    public_halves,
    signed_text,
)
from service.usecases.checkpoint_checks import REFUSED, read_last

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Signing:
    """Where checkpoints are kept, and the keys that sign."""

    store: CheckpointStore
    keys: LogKeys

    def trusted(self) -> tuple[bytes, ...]:
        """Return the public keys whose signature counts: the key here, and those before it."""
        found = [key.public for key in (self.keys.current(), self.keys.next()) if key is not None]
        return (*found, *public_halves(self.keys.retired()))


@dataclass(frozen=True, slots=True)
class Made:
    """A backup: where it is, its manifest with the SHA-256 (hex), and which others were removed."""

    path: Path
    manifest: Manifest
    digest: str
    removed: tuple[str, ...] = ()


class MakeBackup:
    """The use case behind ``groundkeeper backup``."""

    def __init__(
        self,
        *,
        source: BackupSource,
        shelf: BackupShelf,
        signing: Signing,
        clock: Clock,
        versions: Mapping[str, str],
    ) -> None:
        self._source = source
        self._shelf = shelf
        self._signing = signing
        self._clock = clock
        self._versions = versions

    def run(self, keep: int | None = None) -> Made:
        """Make a backup, then remove the oldest so that at most ``keep`` of this log are left.

        Raises:
            Damaged: the database does not verify; nothing was kept.
            ReadOnly: the log has no checkpoint, or does not continue it.
            Unavailable: something cannot be read or written.
        """
        made = self._made()
        if keep is None:
            return made
        removed = prune(self._shelf, self._signing, made.manifest.log, keep)
        return Made(made.path, made.manifest, made.digest, removed)

    def _made(self, attempts: int = _ATTEMPTS) -> Made:
        try:
            return self._attempt()
        except Conflict:
            if attempts == 1:
                raise
        return self._made(attempts - 1)

    def _attempt(self) -> Made:
        last = read_last(self._signing.store, self._signing.keys)
        key = self._signing.keys.current()
        if key is None:
            raise ReadOnly(REFUSED, "the signing key log.key is gone; put it back")
        now = self._clock.now()
        with self._shelf.draft(now) as draft:
            anchors = Anchors(stored=(last.checkpoint,))
            copied = self._source.copy(draft.path(DATABASE), anchors)
            self._write_proofs(draft, last, key)
            created = now.astimezone(UTC).isoformat(timespec="microseconds")
            manifest = _manifest(copied, last, created, self._versions, draft)
            data = manifest.data()
            named = VerifierKey(manifest.log, key.public)
            note = sign_note(signed_text(manifest.log, data), named, key.sign)
            draft.write(MANIFEST, data)
            draft.write(SIGNATURE, note.encode())
            return Made(draft.publish(), manifest, digest_of(data))

    def _write_proofs(self, draft: BackupDraft, last: SignedCheckpoint, key: LogKey) -> None:
        """Add what a stranger verifies the log with."""
        draft.write(CHECKPOINT, last.note.encode())
        current = VerifierKey(last.checkpoint.origin, key.public).text()
        keys = (current, *reversed(self._signing.keys.retired()))
        draft.write(KEYS, "".join(f"{text}\n" for text in keys).encode())
        rotations = self._signing.store.rotations()
        if rotations:
            draft.write(ROTATIONS, "\n".join(rotations).encode())


def prune(shelf: BackupShelf, signing: Signing, log: str, keep: int) -> tuple[str, ...]:
    """Remove the oldest backups of a log beyond ``keep`` and return their names.

    Whatever else is in the folder stays: other logs' backups, and those whose manifest is not one
    that a key here has signed, or whose files do not have the size it says.
    """
    keys = signing.trusted()
    ours = [name for name in shelf.names() if _is_of(shelf, name, log, keys, signing.keys)]
    removed = tuple(ours[: max(0, len(ours) - keep)])
    for name in removed:
        shelf.remove(name)
    return removed


def record_made(database: Database, digest: str) -> int:
    """Append that a backup was made, with the SHA-256 of its manifest; returns the number."""

    def work(tx: Transaction) -> int:
        draft = EntryDraft(kind="backup.made", actor=tx.scope.actor, state_after=digest)
        return tx.audit.append(draft, {}).seq

    return database.write(SYSTEM, work)


def _manifest(
    copied: Copied,
    last: SignedCheckpoint,
    created: str,
    versions: Mapping[str, str],
    draft: BackupDraft,
) -> Manifest:
    return Manifest(
        log=copied.origin,
        size=copied.size,
        root=copied.root,
        checkpoint_size=last.checkpoint.size,
        created_at=created,
        schema_revision=copied.schema_revision,
        versions=versions,
        key_file=copied.key_file,
        files=draft.files(),
        rows=copied.rows,
        encrypted=copied.encrypted,
        left_out=copied.left_out,
    )


def _is_of(
    shelf: BackupShelf, name: str, log: str, keys: tuple[bytes, ...], checks: LogKeys
) -> bool:
    folder = shelf.open(name)
    try:
        manifest = open_manifest(folder.read(MANIFEST), folder.read(SIGNATURE), keys, checks.check)
        sizes = {n: folder.held(n, hashed=False).bytes for n in manifest.files}
    except GroundkeeperError:
        return False
    return manifest.log == log and sizes == {n: f.bytes for n, f in manifest.files.items()}

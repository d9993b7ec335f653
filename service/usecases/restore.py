"""Restoring a backup: verify everything beside the data directory, then put it in its place.

In this order: the signature of the manifest, the hash of every file, the checkpoint; then the
database is decrypted into a folder of its own, compared with the manifest and with the last
checkpoint that was signed here, completed by what was erased since, and verified at every level.
Only then does anything change.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from service.audit.entry import EntryDraft
from service.audit.errors import VerificationError
from service.audit.notes import Checkpoint, VerifierKey, open_checkpoint
from service.audit.verify import Anchors, Report
from service.domain.errors import Damaged, ReadOnly
from service.ports.backup import BackupFolder, RestoreTarget
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import SYSTEM, Database, Transaction
from service.usecases.backup import Signing
from service.usecases.backup_manifest import (
    CHECKPOINT,
    DATABASE,
    DEPENDENCY,
    MANIFEST,
    SIGNATURE,
    Manifest,
    digest_of,
    open_manifest,
)
from service.usecases.checkpoint_checks import continued, read_last
from service.usecases.restore_erasures import Repeated, RepeatErasures
from service.usecases.verification import verify_log


@dataclass(frozen=True, slots=True)
class Opened:
    """A backup whose files are exactly those that were signed."""

    manifest: Manifest
    digest: str
    checkpoint: Checkpoint
    database: Path


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done.

    Attributes:
        report: the verification of the restored database.
        rollback: how the restored log does not continue the last checkpoint, or ``None``.
        aside: where the data that was there before is.
    """

    opened: Opened
    report: Report
    repeated: Repeated
    rollback: str | None
    aside: Path | None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the operator allows: to move data aside, and to go back behind the last checkpoint."""

    replace: bool = False
    accept_rollback: bool = False


def open_backup(folder: BackupFolder, signing: Signing) -> Opened:
    """Verify a backup as far as its files go.

    Raises ``Damaged`` for anything that is not as a key of this installation has signed it.
    """
    keys = signing.trusted()
    data = folder.read(MANIFEST)
    manifest = open_manifest(data, folder.read(SIGNATURE), keys, signing.keys.check)
    for name, expected in manifest.files.items():
        if folder.held(name) != expected:
            raise Damaged(DEPENDENCY, f"{name} is not the file that was backed up")
    try:
        named = [VerifierKey(manifest.log, key) for key in keys]
        note = folder.read(CHECKPOINT).decode()
        checkpoint = open_checkpoint(note, named, signing.keys.check)
    except (VerificationError, UnicodeDecodeError) as error:
        raise Damaged(DEPENDENCY, f"its checkpoint cannot be used: {error}") from error
    if (checkpoint.origin, checkpoint.size) != (manifest.log, manifest.checkpoint_size):
        raise Damaged(DEPENDENCY, "its checkpoint is not the one that its manifest names")
    return Opened(manifest, digest_of(data), checkpoint, folder.path(DATABASE))


class RestoreBackup:
    """The use case behind ``groundkeeper restore``."""

    def __init__(
        self,
        *,
        target: RestoreTarget,
        signing: Signing,
        clock: Clock,
        identifiers: Identifiers,
    ) -> None:
        self._target = target
        self._signing = signing
        self._clock = clock
        self._identifiers = identifiers

    def run(self, folder: BackupFolder, wishes: Wishes) -> Restored:
        """Verify a backup and put it in the place of the data directory's database.

        Raises:
            Damaged: the backup is not as it was signed, or does not verify; nothing was changed.
            ReadOnly: it is older than the last checkpoint, and that was not accepted.
            Conflict: there is data already, and moving it aside was not allowed.
            Unavailable: the service is running, or keys or files cannot be used.
        """
        with self._target.staging(replace=wishes.replace) as staging:
            opened = open_backup(folder, self._signing)
            unsealed = staging.fill(opened.database, opened.manifest.encrypted)
            with staging.open(opened.manifest.log) as database:
                database.read(SYSTEM, lambda tx: _require_same(tx, opened))
                rollback = self._rollback(database)
                if rollback is not None and not wishes.accept_rollback:
                    raise ReadOnly("restore", f"{rollback}. {ADVICE}")
                repeat = RepeatErasures(database, self._clock, self._identifiers)
                repeated = repeat.run(unsealed.destroyed, unsealed.touched)
                database.write(SYSTEM, lambda tx: _record(tx, opened.digest))
                report = database.read(SYSTEM, lambda tx: _verified(tx, opened))
            if not report.ok:
                raise Damaged(DEPENDENCY, f"it does not verify ({report.reason})")
            return Restored(opened, report, repeated, rollback, staging.put_in_place())

    def _rollback(self, database: Database) -> str | None:
        """Return how the log does not continue the last checkpoint that was signed here."""
        try:
            last = read_last(self._signing.store, self._signing.keys)
            database.read(SYSTEM, lambda tx: continued(tx, last.checkpoint))
        except ReadOnly as error:
            return error.detail
        return None


ADVICE = (
    "Whatever the log said after this backup is lost, and whoever holds a later checkpoint will "
    "see that the log does not continue it. To restore all the same, add --accept-rollback: the "
    "checkpoints here are then put aside as evidence and a new series begins"
)


def _require_same(tx: Transaction, opened: Opened) -> None:
    """Compare the log with the manifest, before anything is appended."""
    head = tx.audit.head()
    found = (head.origin, head.size, tx.audit.root(head.size).hex())
    if found != (opened.manifest.log, opened.manifest.size, opened.manifest.root):
        raise Damaged(DEPENDENCY, "its log is not the one that its manifest names")


def _record(tx: Transaction, digest: str) -> int:
    draft = EntryDraft(kind="backup.restored", actor=tx.scope.actor, state_after=digest)
    return tx.audit.append(draft, {}).seq


def _verified(tx: Transaction, opened: Opened) -> Report:
    signed = Checkpoint(
        opened.manifest.log, opened.manifest.size, bytes.fromhex(opened.manifest.root)
    )
    return verify_log(tx, opened.manifest.log, Anchors(stored=(opened.checkpoint, signed)))

"""What a backup says about itself, and the signature that makes it believable.

The manifest is canonical JSON (RFC 8785). A signed note (C2SP signed-note) beside it holds its
SHA-256, signed by the key that signs checkpoints. Its first line has a blank, which no name of a
log has: such a note can never pass for a checkpoint, nor a checkpoint for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from service.audit.errors import VerificationError
from service.audit.notes import Check, VerifierKey, note_text, open_note, parse_verifier_key
from service.domain.canonical import canonical_json
from service.domain.errors import Damaged
from service.ports.backup import HeldFile

FORMAT: Final = 1
DEPENDENCY: Final = "backup"
DATABASE: Final = "groundkeeper.db"
CHECKPOINT: Final = "checkpoint.txt"
KEYS: Final = "public-keys.txt"
ROTATIONS: Final = "rotations.txt"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig.txt"
_TITLE: Final = "groundkeeper backup"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a backup.

    Attributes:
        log: the name of the log.
        size: how many entries the log has in it.
        root: the root over these entries (RFC 6962), in hex.
        checkpoint_size: how many of them the checkpoint in it covers.
        created_at: when it was made, UTC.
        schema_revision: that of the tables.
        versions: of what made it.
        key_file: the name of the file with the keys of users that it needs.
        files: every other file.
        rows: how many rows each table has.
        encrypted: the columns of each table that are encrypted, under the key of the row's user.
        left_out: tables that are empty in it.
    """

    log: str
    size: int
    root: str
    checkpoint_size: int
    created_at: str
    schema_revision: str
    versions: Mapping[str, str]
    key_file: str
    files: Mapping[str, HeldFile]
    rows: Mapping[str, int]
    encrypted: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...]

    @property
    def beyond(self) -> int:
        """Return how many entries the checkpoint does not cover; the manifest covers them all."""
        return self.size - self.checkpoint_size

    def data(self) -> bytes:
        """Return the canonical JSON."""
        return canonical_json({"format": FORMAT, **json.loads(json.dumps(asdict(self)))})


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of a manifest, in hex; the log names a backup by it."""
    return hashlib.sha256(data).hexdigest()


def signed_text(log: str, data: bytes) -> str:
    """Return the text that is signed for a manifest."""
    return f"{_TITLE}\n{log}\nsha256 {digest_of(data)}\n"


def read_manifest(data: bytes) -> Manifest:
    """Read exactly what ``Manifest.data`` writes; raises ``Damaged`` for everything else."""
    try:
        value = json.loads(data)
        read = _manifest(value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Damaged(DEPENDENCY, "its manifest is not one of this version") from error
    if read.data() != data:
        raise Damaged(DEPENDENCY, "its manifest is not in its one form")
    return read


def open_manifest(data: bytes, note: bytes, keys: Sequence[bytes], check: Check) -> Manifest:
    """Return a manifest that one of our keys has signed; raises ``Damaged`` for any other.

    ``keys`` are public keys, 32 bytes each; they sign under the name of the log.
    """
    manifest = read_manifest(data)
    try:
        text = note.decode()
        named = [VerifierKey(manifest.log, key) for key in keys]
        if note_text(text) != signed_text(manifest.log, data):
            raise Damaged(DEPENDENCY, "its manifest is not the one that was signed")
        open_note(text, named, check)
    except (VerificationError, UnicodeDecodeError) as error:
        raise Damaged(DEPENDENCY, f"no key of this installation has signed it ({error})") from error
    return manifest


def public_halves(texts: Sequence[str]) -> tuple[bytes, ...]:
    """Return the bytes of public keys that are given as text; raises ``Damaged`` for no key."""
    try:
        return tuple(parse_verifier_key(text).public for text in texts)
    except VerificationError as error:
        raise Damaged("signing key", str(error)) from error


def _manifest(value: dict[str, Any]) -> Manifest:
    if value.pop("format") != FORMAT:
        raise ValueError("format")
    files = {name: HeldFile(**held) for name, held in value.pop("files").items()}
    encrypted = {table: tuple(names) for table, names in value.pop("encrypted").items()}
    left_out = tuple(value.pop("left_out"))
    return Manifest(files=files, encrypted=encrypted, left_out=left_out, **value)

"""Checkpoints as signed notes: what the log was at one size, signed, in a few lines of text.

The forms are those of C2SP: signed-note (text, blank line, signature lines; Ed25519 is signature
type 0x01) and tlog-checkpoint (origin, size, root). The name of a key is the origin of the log it
signs for. Signing and checking are handed in as functions: nothing here does cryptography beyond
hashing.

Extension lines of a checkpoint are refused: this log never writes any, and ignoring what a key has
signed would be a way to be misled.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.audit.canonical import MAX_INT
from service.audit.errors import VerificationError
from service.audit.tree import EMPTY_ROOT, HASH_BYTES

MAX_NOTE_BYTES: Final = 256 * 1024
MAX_SIGNATURES: Final = 32
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
ED25519: Final = b"\x01"
_ID_BYTES: Final = 4
_DASH: Final = "\N{EM DASH} "
_LINES: Final = 3
_NAME = re.compile(r"[^\s+\x00-\x1f\x7f]{1,255}").fullmatch
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}").fullmatch
_HEX_ID = re.compile(r"[0-9a-f]{8}").fullmatch
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]").search

Sign = Callable[[bytes], bytes]
"""Gives the Ed25519 signature of a message."""

Check = Callable[[bytes, bytes, bytes], bool]
"""Tells whether a public key (32 bytes) signed a message: (public, message, signature)."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a log: its name, how many entries it has, and the root over them."""

    origin: str
    size: int
    root: bytes


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public Ed25519 key (32 bytes) with the name it signs under."""

    name: str
    public: bytes

    def __post_init__(self) -> None:
        _need_name(self.name)
        if len(self.public) != KEY_BYTES:
            raise VerificationError(f"key: not {KEY_BYTES} bytes")

    @property
    def key_id(self) -> bytes:
        """Return the 4 bytes that say which key a signature line is of."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[
            :_ID_BYTES
        ]

    def text(self) -> str:
        """Return the key as text: name, id in hex and base64, joined by ``+``."""
        return f"{self.name}+{self.key_id.hex()}+{_base64(ED25519 + self.public)}"


def parse_verifier_key(text: str) -> VerifierKey:
    """Read a key as ``VerifierKey.text`` writes it; surrounding blank space does not count."""
    name, _, rest = text.strip().partition("+")
    key_id, _, encoded = rest.partition("+")
    data = _decode("key", encoded)
    if data[:1] != ED25519:
        raise VerificationError("key: not an Ed25519 key")
    key = VerifierKey(name, data[1:])
    if _HEX_ID(key_id) is None or key.key_id.hex() != key_id:
        raise VerificationError("key: its id is not that of its name and bytes")
    return key


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Return the text that is signed: origin, size and root, one line each."""
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{_base64(checkpoint.root)}\n"
    parse_checkpoint(text)
    return text


def parse_checkpoint(text: str) -> Checkpoint:
    """Read exactly what ``checkpoint_text`` writes."""
    lines = text.split("\n")
    if len(lines) != _LINES + 1 or lines[-1]:
        raise VerificationError("checkpoint: not three lines, each with its newline")
    origin, size, root = lines[:_LINES]
    _need_name(origin)
    if _SIZE(size) is None or int(size) > MAX_INT:
        raise VerificationError("checkpoint: the size is no plain number")
    found = Checkpoint(origin, int(size), _decode("checkpoint", root))
    if len(found.root) != HASH_BYTES:
        raise VerificationError(f"checkpoint: the root is not {HASH_BYTES} bytes")
    if found.size == 0 and found.root != EMPTY_ROOT:
        raise VerificationError("checkpoint: the root of an empty log is SHA-256 of nothing")
    return found


def sign_note(text: str, key: VerifierKey, sign: Sign) -> str:
    """Return the note: the text and one signature."""
    _need_text(text)
    return f"{text}\n{_signature_line(text, key, sign)}"


def add_signature(note: str, key: VerifierKey, sign: Sign) -> str:
    """Return the note with one more signature, for example of the next key while keys rotate.

    Whoever adds it should have opened the note first: a signature vouches for the text.
    """
    text, signatures = _parts(note)
    if claims(note, key):
        raise VerificationError("note: this key has signed it already")
    if len(signatures) == MAX_SIGNATURES:
        raise VerificationError(f"note: more than {MAX_SIGNATURES} signatures")
    return note + _signature_line(text, key, sign)


def open_note(
    note: str, keys: Sequence[VerifierKey], check: Check
) -> tuple[str, tuple[VerifierKey, ...]]:
    """Return the text of a note, and those of ``keys`` that signed it, which are one at least.

    Signatures of other keys are ignored. Raises ``VerificationError`` for a wrong signature in the
    name of one of ``keys``, for one that comes twice, and for a note nobody known has signed.
    """
    text, signatures = _parts(note)
    known = {(key.name, key.key_id): key for key in keys}
    if len(known) != len(set(keys)):
        raise VerificationError("key: two keys with one name and id")
    signed: list[VerifierKey] = []
    for name, key_id, signature in signatures:
        key = known.get((name, key_id))
        if key is None:
            continue
        if key in signed:
            raise VerificationError("note: two signatures of one key")
        if len(signature) != SIGNATURE_BYTES or not check(key.public, text.encode(), signature):
            raise VerificationError(f"note: the signature of {key.name} is wrong")
        signed.append(key)
    if not signed:
        raise VerificationError("note: not signed by a known key")
    return text, tuple(signed)


def open_checkpoint(note: str, keys: Sequence[VerifierKey], check: Check) -> Checkpoint:
    """Return the checkpoint in a note; only a key named after its log can vouch for it."""
    checkpoint = parse_checkpoint(note_text(note))
    open_note(note, [key for key in keys if key.name == checkpoint.origin], check)
    return checkpoint


def claims(note: str, key: VerifierKey) -> bool:
    """Tell whether a note has a line that says this key signed it, right or wrong."""
    return any((name, key_id) == (key.name, key.key_id) for name, key_id, _ in _parts(note)[1])


def split_notes(text: str) -> tuple[str, ...]:
    """Return the notes of a text that holds one, or several with blank lines between them.

    For notes whose own text has no blank line, as that of checkpoints. Nothing is verified.
    """
    blocks = [block for block in re.split(r"\n{2,}", text.strip("\n")) if block]
    if len(blocks) % 2:
        raise VerificationError("note: a text and its signatures do not come in pairs")
    pairs = zip(blocks[::2], blocks[1::2], strict=True)
    return tuple(f"{body}\n\n{signatures}\n" for body, signatures in pairs)


def note_text(note: str) -> str:
    """Return the text of a note WITHOUT looking at its signatures: trust nothing it says."""
    return _parts(note)[0]


def _signature_line(text: str, key: VerifierKey, sign: Sign) -> str:
    signature = sign(text.encode())
    if len(signature) != SIGNATURE_BYTES:
        raise VerificationError(f"signature: not {SIGNATURE_BYTES} bytes")
    return f"{_DASH}{key.name} {_base64(key.key_id + signature)}\n"


def _parts(note: str) -> tuple[str, list[tuple[str, bytes, bytes]]]:
    """Return text and signatures (key name, key id, signature) of a well-formed note."""
    if len(note) > MAX_NOTE_BYTES or len(_encoded(note)) > MAX_NOTE_BYTES:
        raise VerificationError(f"note: longer than {MAX_NOTE_BYTES} bytes")
    body, blank, block = note.rpartition("\n\n")
    if not blank or not block.endswith("\n"):
        raise VerificationError("note: no signature lines after a blank line")
    lines = block[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise VerificationError(f"note: more than {MAX_SIGNATURES} signatures")
    text = f"{body}\n"
    _need_text(text)
    return text, [_signature(line) for line in lines]


def _signature(line: str) -> tuple[str, bytes, bytes]:
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH):
        raise VerificationError("note: a signature line without a dash")
    _need_name(name)
    data = _decode("note", encoded)
    if len(data) <= _ID_BYTES:
        raise VerificationError("note: a signature that is too short")
    return name, data[:_ID_BYTES], data[_ID_BYTES:]


def _need_text(text: str) -> None:
    if not text.endswith("\n") or len(_encoded(text)) > MAX_NOTE_BYTES:
        raise VerificationError("note: the text does not end with a newline, or is too long")
    if _CONTROL(text) is not None:
        raise VerificationError("note: a control character")


def _need_name(name: str) -> None:
    _encoded(name)
    if _NAME(name) is None:
        raise VerificationError("name: empty, too long, or with a blank, plus or control character")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise VerificationError("text: not Unicode") from error


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decode(what: str, text: str) -> bytes:
    """Read standard base64 (RFC 4648, section 4), padded, with zero as its unused bits."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise VerificationError(f"{what}: not base64") from error
    if _base64(data) != text:
        raise VerificationError(f"{what}: not base64 in its one form")
    return data

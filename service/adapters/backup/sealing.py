"""Encrypting the personal part of a row under its user's key.

AES-256-GCM (NIST SP 800-38D), a random nonce of 96 bits for every row. The associated data binds a
ciphertext to its table, columns, row, tenant and user, so that none can be moved to another place.
What is encrypted is padded to a multiple of 64 bytes: its length tells little.
"""

from __future__ import annotations

import base64
import binascii
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.domain.errors import Damaged
from service.ports.subject_keys import SubjectRef

DEPENDENCY: Final = "backup"
TEXT_MARK: Final = b"encrypted/1/"
BYTES_MARK: Final = b"encrypt1"
_NONCE: Final = 12
_BLOCK: Final = 64
_LABEL: Final = b"groundkeeper/backup/v1"
_LENGTH: Final = struct.Struct(">BI")  # whether there is a value, and its length in bytes

Values = Sequence[bytes | None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a ciphertext belongs."""

    table: str
    columns: tuple[str, ...]
    row: tuple[str, ...]
    who: SubjectRef

    def bound(self) -> bytes:
        """Return the associated data; no two places share it."""
        whose = (self.who.tenant, self.who.subject_id)
        return _table_part(self.table, self.columns) + _list(self.row) + _list(whose)


def seal(key: bytes, place: Place, values: Values, *, as_text: bool) -> bytes:
    """Return the ciphertext of a row's values, as text (base64) or as bytes."""
    packed = b"".join(map(_pack, values))
    padded = packed + bytes(-len(packed) % _BLOCK)
    nonce = os.urandom(_NONCE)
    data = nonce + AESGCM(key).encrypt(nonce, padded, place.bound())
    return TEXT_MARK + base64.b64encode(data) if as_text else BYTES_MARK + data


def unseal(key: bytes, place: Place, sealed: bytes | None) -> Values:
    """Return the values of a row; raises ``Damaged`` unless they are exactly what was sealed."""
    data = _data(sealed or b"")
    try:
        padded = AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], place.bound())
    except (InvalidTag, ValueError) as error:
        raise Damaged(DEPENDENCY, f"a row of {place.table} does not decrypt") from error
    values, at = [], 0
    for _ in place.columns:
        there, length = _LENGTH.unpack_from(padded, at)
        at += _LENGTH.size
        values.append(padded[at : at + length] if there else None)
        at += length
    return values


def is_sealed(value: bytes | None) -> bool:
    """Return whether a value has the form of a ciphertext."""
    return value is not None and value.startswith((TEXT_MARK, BYTES_MARK))


def _data(sealed: bytes) -> bytes:
    if sealed.startswith(BYTES_MARK):
        return sealed.removeprefix(BYTES_MARK)
    text = sealed.removeprefix(TEXT_MARK)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Damaged(DEPENDENCY, "a ciphertext is not base64") from error
    if base64.b64encode(data) != text:
        raise Damaged(DEPENDENCY, "a ciphertext is not base64 in its one form")
    return data


def _pack(value: bytes | None) -> bytes:
    return _LENGTH.pack(value is not None, len(value or b"")) + (value or b"")


@lru_cache
def _table_part(table: str, columns: tuple[str, ...]) -> bytes:
    return _LABEL + _list((table,)) + _list(columns)


def _list(parts: tuple[str, ...]) -> bytes:
    encoded = [part.encode("utf-8", "surrogateescape") for part in parts]
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in encoded)
    return len(parts).to_bytes(4, "big") + framed

"""Ed25519 (RFC 8032) with a key in a file that only its owner can read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from service.adapters.signing.seeds import DEPENDENCY, make_seed, read_seed
from service.domain.errors import Unavailable

_NAME: Final = "receipts.key"
_ID_DIGITS: Final = 16


class Ed25519Signer:
    """Implements ``Signer``; make one with ``open_signer``.

    ``retired`` are public keys (``*.pub`` beside the key) that signed before.
    """

    def __init__(
        self, private: Ed25519PrivateKey, retired: tuple[Ed25519PublicKey, ...] = ()
    ) -> None:
        self._private = private
        public = private.public_key()
        self._public = {key_id(key): key for key in (public, *retired)}
        self._id = key_id(public)

    @property
    def key_id(self) -> str:
        """Return the id of the key that signs now."""
        return self._id

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._private.sign(message)

    def verify(self, key_id: str, message: bytes, signature: bytes) -> bool:
        """Return whether this key of the server signed this message."""
        public = self._public.get(key_id)
        if public is None:
            return False
        try:
            public.verify(signature, message)
        except InvalidSignature:
            return False
        return True


def key_id(public: Ed25519PublicKey) -> str:
    """Return the first 16 hex digits of the SHA-256 of a public key's 32 bytes."""
    return hashlib.sha256(public.public_bytes_raw()).hexdigest()[:_ID_DIGITS]


def open_signer(folder: Path) -> Ed25519Signer:
    """Return the signer with the folder's key; a missing key is made, readable by its owner only.

    Raises:
        Unavailable: the key cannot be read or made, is no key, or others could read it.
    """
    path = folder / _NAME
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        seed = read_seed(path) if path.exists() else make_seed(path)
        retired = tuple(
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(p.read_text(encoding="ascii").strip()))
            for p in sorted(folder.glob("*.pub"))
        )
        return Ed25519Signer(Ed25519PrivateKey.from_private_bytes(seed), retired)
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error.strerror}") from error
    except ValueError as error:
        raise Unavailable(DEPENDENCY, f"{folder} holds a file that is no key") from error

"""Signing with the server's key, and checking what was signed."""

from __future__ import annotations

from typing import Protocol


class Signer(Protocol):
    """Holds one private key and knows the public keys that were used before."""

    @property
    def key_id(self) -> str:
        """Return the id of the key that signs now: the start of its public key's SHA-256."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        ...

    def verify(self, key_id: str, message: bytes, signature: bytes) -> bool:
        """Return whether this key of the server signed this message; unknown keys did not."""
        ...

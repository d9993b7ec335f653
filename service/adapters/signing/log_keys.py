"""The key that signs checkpoints: ``log.key``, and public keys as text beside it.

``log.vkey`` holds the key that signs now, ``log.retired.vkey`` those that signed before, one per
line. While keys rotate there is also ``log.key.next``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from service.adapters.durable import append_file, replace_file
from service.adapters.signing.seeds import DEPENDENCY, destroy_replaced, make_seed, read_seed
from service.domain.errors import Unavailable

_KEY: Final = "log.key"
_NEXT: Final = "log.key.next"
_PUBLIC: Final = "log.vkey"
_RETIRED: Final = "log.retired.vkey"
_PUBLIC_MODE: Final = 0o644


class Ed25519LogKey:
    """Implements ``LogKey``."""

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public(self) -> bytes:
        """Return the public half, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message, 64 bytes."""
        return self._private.sign(message)


class FileLogKeys:
    """Implements ``LogKeys`` in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def current(self) -> Ed25519LogKey | None:
        """Return the key that signs now."""
        return self._load(_KEY)

    def make(self) -> Ed25519LogKey:
        """Return the key that signs now; a missing one is made."""
        return self._load(_KEY) or self._make(_KEY)

    def next(self) -> Ed25519LogKey | None:
        """Return the key of a rotation that was begun and not finished."""
        return self._load(_NEXT)

    def make_next(self) -> Ed25519LogKey:
        """Return the next key; a missing one is made."""
        return self._load(_NEXT) or self._make(_NEXT)

    def retired(self) -> tuple[str, ...]:
        """Return the public keys that signed before, as text, oldest first."""
        path = self._folder / _RETIRED
        with _reported(path):
            return tuple(path.read_text(encoding="utf-8").split()) if path.exists() else ()

    def published(self) -> str | None:
        """Return the public key that signs now, as text, as it was published last."""
        path = self._folder / _PUBLIC
        with _reported(path):
            return path.read_text(encoding="utf-8").strip() if path.exists() else None

    def publish(self, current: str) -> None:
        """Write the public key that signs now, as text, beside the private one."""
        path = self._folder / _PUBLIC
        content = f"{current}\n".encode()
        with _reported(path):
            if not path.exists() or path.read_bytes() != content:
                replace_file(path, content, mode=_PUBLIC_MODE)

    def finish(self, old: str, new: str) -> None:
        """Let the next key sign from now on and destroy the private half of the old one."""
        if not (self._folder / _NEXT).exists():
            return
        if old not in self.retired():
            with _reported(self._folder / _RETIRED):
                append_file(self._folder / _RETIRED, f"{old}\n".encode(), mode=_PUBLIC_MODE)
        self.publish(new)
        with _reported(self._folder / _NEXT):
            destroy_replaced(self._folder / _KEY, self._folder / _NEXT)

    def check(self, public: bytes, message: bytes, signature: bytes) -> bool:
        """Return whether a public key signed a message."""
        return check_signature(public, message, signature)

    def _load(self, name: str) -> Ed25519LogKey | None:
        path = self._folder / name
        with _reported(path):
            return Ed25519LogKey(read_seed(path)) if path.exists() else None

    def _make(self, name: str) -> Ed25519LogKey:
        path = self._folder / name
        with _reported(path):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return Ed25519LogKey(make_seed(path))


def check_signature(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether a public Ed25519 key (32 bytes) signed a message; no key signs nothing."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(DEPENDENCY, f"cannot use {path}: {error.strerror}") from error
    except ValueError as error:
        raise Unavailable(DEPENDENCY, f"{path} is no key") from error

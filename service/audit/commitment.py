"""Binding a text to an entry without putting the text, or a guessable hash of it, into the log.

The commitment is HMAC-SHA-256 (RFC 2104) keyed with a random salt. Showing text and salt proves
what was recorded; deleting both leaves 32 bytes that say nothing, because the text can no longer be
guessed and compared.
"""

from __future__ import annotations

import hmac
import secrets

from service.audit.errors import VerificationError
from service.audit.rows import Body

SALT_BYTES = 32


def new_salt() -> bytes:
    """Return a fresh salt; every body has its own, so equal texts look different."""
    return secrets.token_bytes(SALT_BYTES)


def commit(salt: bytes, text: bytes) -> str:
    """Return the commitment to a text, in hex."""
    if len(salt) != SALT_BYTES:
        raise VerificationError(f"salt: not {SALT_BYTES} bytes")
    return hmac.digest(salt, text, "sha256").hex()


def opens(commitment: str, body: Body) -> bool:
    """Tell whether a body is the one that was committed to."""
    try:
        actual = commit(body.salt, body.text.encode("utf-8", "surrogateescape"))
    except (VerificationError, UnicodeEncodeError):
        return False
    return actual == commitment  # both are public: there is no secret to leak through timing

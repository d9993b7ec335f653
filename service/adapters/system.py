"""The machine's clock and its source of randomness."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: no letters that look alike."""

TIME_BITS, RANDOM_BITS, CHARACTERS = 48, 80, 26


class SystemClock:
    """Tells the machine's time in UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        return datetime.now(UTC)


class RandomIdentifiers:
    """ULIDs: 48 bits of milliseconds, so that ids sort by time, then 80 random bits."""

    def new(self, prefix: str) -> str:
        """Return a new id, ``<prefix>_<26 characters>``."""
        milliseconds = time.time_ns() // 1_000_000 & ((1 << TIME_BITS) - 1)
        number = milliseconds << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
        shifts = range(5 * (CHARACTERS - 1), -1, -5)
        return f"{prefix}_{''.join(ALPHABET[number >> shift & 31] for shift in shifts)}"

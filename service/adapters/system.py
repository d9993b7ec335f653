"""The machine's clock and its source of randomness."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: no letters that look alike."""

TIME_BITS, RANDOM_BITS, CHARACTERS = 48, 80, 26


_PAIRS = tuple(first + second for first in ALPHABET for second in ALPHABET)
_SHIFTS = range(5 * (CHARACTERS - 2), -1, -10)


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
        return f"{prefix}_{''.join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])}"

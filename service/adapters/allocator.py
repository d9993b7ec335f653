"""How the C library keeps free memory, where it is glibc (mallopt(3)); elsewhere nothing is done.

By default glibc has eight heaps for each core, and each holds on to what was freed in it. Python's
threads take turns anyway, so they lose nothing by sharing two. And it asks the system for any block
from 128 kB on, and gives it back: filling the vectors of a user with a thousand memories, 1.5 MB,
takes three times as long on pages that the system has to clear first.
"""

from __future__ import annotations

import ctypes
import os
from typing import Final, NamedTuple

_MIB: Final = 1 << 20


class _Choice(NamedTuple):
    parameter: int  # as in malloc.h
    value: int
    variable: str  # glibc's own, by which an operator chooses


_CHOICES: Final = (
    _Choice(-8, 2, "MALLOC_ARENA_MAX"),
    _Choice(-3, 4 * _MIB, "MALLOC_MMAP_THRESHOLD_"),
    _Choice(-1, 16 * _MIB, "MALLOC_TRIM_THRESHOLD_"),
)


def tune_heaps() -> tuple[str, ...]:
    """Set what nobody chose in the environment; return the names. Call it before any thread."""
    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is None:
        return ()
    free = (c for c in _CHOICES if c.variable not in os.environ)
    return tuple(c.variable for c in free if change(c.parameter, c.value))

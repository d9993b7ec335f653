"""How many heaps the C library keeps: with one for every few threads, each holds on to free memory.

That is glibc's ``M_ARENA_MAX`` (mallopt(3)); by default eight for each core. Python's threads take
turns anyway, so they lose nothing by sharing. Other C libraries have no such heaps.
"""

from __future__ import annotations

import ctypes
import os
from typing import Final

_ARENA_MAX: Final = -8  # M_ARENA_MAX in malloc.h
_HEAPS: Final = 2
_CHOSEN: Final = "MALLOC_ARENA_MAX"


def share_heaps() -> bool:
    """Let all threads share two heaps; return whether that was done. Call it before any thread.

    Whoever runs the service can set another number with glibc's own variable.
    """
    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is None or _CHOSEN in os.environ:
        return False
    return bool(change(_ARENA_MAX, _HEAPS))

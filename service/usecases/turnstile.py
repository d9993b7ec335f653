"""Writers of one user, one at a time once they got into each other's way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from service.domain.errors import Conflict

T = TypeVar("T")
_ATTEMPTS = 5


class Changed(Exception):  # noqa: N818 - never leaves the use cases
    """What a decision rested on is no longer so; decide again."""


class _Lock:
    """A lock that a weak dictionary can hold."""

    def __init__(self) -> None:
        self.held = threading.Lock()


class Turnstile:
    """Runs work that decides first and writes later.

    The first attempt is free. If the ground moved under it, the others for the same user queue up,
    so that each of many writers at once gets its turn instead of losing every race.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, str], _Lock] = WeakValueDictionary()
        self._guard = threading.Lock()

    def run(self, tenant: str, user_id: str, attempt: Callable[[], T]) -> T:
        """Return what ``attempt`` returns; it may raise ``Changed`` to be run again.

        Raises ``Conflict`` when the ground moved five times.
        """
        try:
            return attempt()
        except Changed:
            lock = self._lock(tenant, user_id)
        with lock.held:
            for _ in range(_ATTEMPTS):
                try:
                    return attempt()
                except Changed:
                    continue
        raise Conflict("This user's memories kept changing meanwhile; nothing was written. Retry.")

    def _lock(self, tenant: str, user_id: str) -> _Lock:
        with self._guard:
            return self._locks.setdefault((tenant, user_id), _Lock())

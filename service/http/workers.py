"""Threads that do the work, so that the event loop never waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from service.domain.errors import Overloaded

T = TypeVar("T")


class WorkerPool:
    """At most ``threads`` calls run and ``queue`` wait; more are refused at once."""

    def __init__(self, *, threads: int, queue: int) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._exclusive = anyio.CapacityLimiter(1)
        self._room = threads + queue
        self._busy = 0

    @property
    def busy(self) -> int:
        """Return how many calls run or wait."""
        return self._busy

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; raises ``Overloaded`` when too many wait already."""
        return await self._run(work, self._limiter)

    async def run_alone(self, work: Callable[[], T]) -> T:
        """Run slow ``work`` in a thread, one such call at a time, beside the others."""
        return await self._run(work, self._exclusive)

    async def _run(self, work: Callable[[], T], limiter: anyio.CapacityLimiter) -> T:
        if self._busy >= self._room:
            raise Overloaded("workers")
        self._busy += 1
        try:
            return await anyio.to_thread.run_sync(work, limiter=limiter)
        finally:
            self._busy -= 1

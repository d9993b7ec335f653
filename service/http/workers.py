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
        self._running: set[object] = set()
        self._waiting: list[tuple[set[object], Callable[[], None]]] = []

    @property
    def busy(self) -> int:
        """Return how many calls run or wait."""
        return len(self._running)

    def once_quiet(self, call: Callable[[], None]) -> None:
        """Make a quick call once every call that runs or waits now has ended."""
        if self._running:
            self._waiting.append((set(self._running), call))
        else:
            call()

    async def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in a thread; raises ``Overloaded`` when too many wait already."""
        return await self._run(work, self._limiter)

    async def run_alone(self, work: Callable[[], T]) -> T:
        """Run slow ``work`` in a thread, one such call at a time, beside the others."""
        return await self._run(work, self._exclusive)

    async def _run(self, work: Callable[[], T], limiter: anyio.CapacityLimiter) -> T:
        if len(self._running) >= self._room:
            raise Overloaded("workers")
        mine = object()
        self._running.add(mine)
        try:
            return await anyio.to_thread.run_sync(work, limiter=limiter)
        finally:
            self._end(mine)

    def _end(self, ended: object) -> None:
        self._running.discard(ended)
        waiting, self._waiting = self._waiting, []
        for others, call in waiting:
            others.discard(ended)
            if others:
                self._waiting.append((others, call))
            else:
                call()

"""Gathers requests of concurrent callers into batches for a model.

Callers block on futures; a few worker threads each take the oldest item together with the items
nearest to it in length, up to a token budget. An idle worker starts at once when nothing else is
running; while another worker is busy it waits a moment for company.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from service.domain.errors import Overloaded, Unavailable


class Sized(Protocol):
    """An item whose cost is its number of tokens."""

    def __len__(self) -> int:
        """Return the number of tokens."""
        ...


ItemT = TypeVar("ItemT", bound=Sized)
ResultT = TypeVar("ResultT")

LOOKAHEAD = 128  # items of the queue that are considered for one batch


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How a batcher gathers."""

    workers: int = 1
    queue_size: int = 512  # waiting items beyond which callers are turned away
    max_items: int = 32
    max_tokens: int = 768  # padded tokens of one batch
    min_tokens: int = 128  # below this a batch is neither split nor kept from padding
    max_padding: float = 0.05  # of a batch's tokens; a larger batch saves less than padding costs
    gather_seconds: float = 0.002


@dataclass(slots=True)
class _Job(Generic[ItemT, ResultT]):
    item: ItemT
    future: Future[ResultT] = field(default_factory=Future)


class MicroBatcher(Generic[ItemT, ResultT]):
    """Runs ``run`` on batches of items in worker threads."""

    def __init__(
        self, name: str, run: Callable[[list[ItemT]], Sequence[ResultT]], limits: BatchLimits
    ) -> None:
        self._name = name
        self._run = run
        self._limits = limits
        self._queue: deque[_Job[ItemT, ResultT]] = deque()
        self._changed = threading.Condition()
        self._busy = 0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{index}", daemon=True)
            for index in range(limits.workers)
        ]
        for thread in self._threads:
            thread.start()

    def run_all(self, items: Sequence[ItemT]) -> list[ResultT]:
        """Return one result per item, in order; blocks until all are there.

        Raises:
            Overloaded: the queue has no room; none of the items was taken. An empty queue takes
                a call of any size.
            Unavailable: the batcher is closed.

        """
        jobs: list[_Job[ItemT, ResultT]] = [_Job(item) for item in items]
        if not jobs:
            return []
        with self._changed:
            if self._closed:
                raise Unavailable(self._name, "the model is closed")
            if self._queue and len(self._queue) + len(jobs) > self._limits.queue_size:
                raise Overloaded(self._name)
            self._queue.extend(jobs)
            self._changed.notify_all()
        return [job.future.result() for job in jobs]

    def close(self) -> None:
        """Finish what is queued, refuse anything new and wait for the workers to end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while jobs := self._take():
            try:
                results = self._run([job.item for job in jobs])
                for job, result in zip(jobs, results, strict=True):
                    job.future.set_result(result)
            except Exception as error:  # noqa: BLE001 - belongs to the callers; the worker lives on
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(error)
            finally:
                with self._changed:
                    self._busy -= 1

    def _take(self) -> list[_Job[ItemT, ResultT]]:
        """Return the next batch; empty once closed and drained."""
        with self._changed:
            while self._queue or not self._closed:
                if not self._queue:
                    self._changed.wait()
                elif self._busy and not self._closed and not self._full():
                    self._changed.wait(self._limits.gather_seconds)
                if self._queue:
                    self._busy += 1
                    return self._pick()
            return []

    def _full(self) -> bool:
        return self._waiting_tokens() >= self._limits.max_tokens

    def _waiting_tokens(self) -> int:
        return sum(len(job.item) for job in self._queue)

    def _pick(self) -> list[_Job[ItemT, ResultT]]:
        limits = self._limits
        idle = limits.workers - self._busy + 1  # this worker counts as busy already
        share = -(-self._waiting_tokens() // idle)
        budget = min(limits.max_tokens, max(share, limits.min_tokens))
        first = self._queue[0]
        near = list(self._queue)[1:LOOKAHEAD]
        near.sort(key=lambda job: abs(len(job.item) - len(first.item)))
        batch, widest, tokens = [first], len(first.item), len(first.item)
        for job in near:
            tokens += len(job.item)
            widest = max(widest, len(job.item))
            padded = widest * (len(batch) + 1)
            if len(batch) == limits.max_items or padded > budget:
                break
            if padded > limits.min_tokens and padded > tokens * (1 + limits.max_padding):
                break
            batch.append(job)
        taken = {id(job) for job in batch}
        self._queue = deque(job for job in self._queue if id(job) not in taken)
        return batch

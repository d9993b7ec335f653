"""The micro-batcher, with a plain function in place of a model."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.adapters.onnx.batcher import BatchLimits, MicroBatcher
from service.domain.errors import Overloaded, Unavailable


class Gate:
    """A model that waits until it is let through and remembers its batches."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.opened = threading.Event()
        self.batches: list[list[str]] = []

    def run(self, batch: list[str]) -> list[str]:
        self.batches.append(batch)
        self.started.set()
        assert self.opened.wait(5)
        return [item.upper() for item in batch]


def test_results_come_in_the_order_of_the_call() -> None:
    batcher = MicroBatcher("m", lambda batch: [item.upper() for item in batch], BatchLimits())
    try:
        assert batcher.run_all(["ccc", "a", "bb", ""]) == ["CCC", "A", "BB", ""]
        assert batcher.run_all([]) == []
    finally:
        batcher.close()


def test_many_callers_get_their_own_results() -> None:
    limits = BatchLimits(workers=2, queue_size=10_000)
    batcher = MicroBatcher("m", lambda batch: [item * 2 for item in batch], limits)
    try:
        with ThreadPoolExecutor(32) as pool:
            calls = [[f"{n}-{k}" for k in range(n % 7)] for n in range(300)]
            for call, result in zip(calls, pool.map(batcher.run_all, calls), strict=True):
                assert result == [item * 2 for item in call]
    finally:
        batcher.close()


def test_waiting_items_are_batched_by_length_within_the_budget() -> None:
    gate = Gate()
    limits = BatchLimits(max_tokens=8, min_tokens=1)
    batcher = MicroBatcher("m", gate.run, limits)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(batcher.run_all, ["x"])
        assert gate.started.wait(5)
        second = pool.submit(batcher.run_all, ["aa", "bbbbbbbb", "cc", "dd", "ee", "ff"])
        while len(batcher._queue) < 6:
            time.sleep(0.001)
        gate.opened.set()
        first.result(5)
        second.result(5)
    batcher.close()
    assert gate.batches == [["x"], ["aa", "cc", "dd", "ee"], ["bbbbbbbb"], ["ff"]]


def test_large_batches_are_hardly_padded() -> None:
    gate = Gate()
    limits = BatchLimits(min_tokens=100, max_tokens=1000, max_items=50)
    batcher = MicroBatcher("m", gate.run, limits)
    waiting = ["y" * (20 + n % 30) for n in range(90)] + ["z" * 300, "z" * 10]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(batcher.run_all, ["x"])
        assert gate.started.wait(5)
        second = pool.submit(batcher.run_all, waiting)
        while len(batcher._queue) < len(waiting):
            time.sleep(0.001)
        gate.opened.set()
        first.result(5)
        assert second.result(5) == [item.upper() for item in waiting]
    batcher.close()
    padded = [(len(b) * max(map(len, b)), sum(map(len, b))) for b in gate.batches]
    assert all(size <= 100 or size <= used * 1.05 for size, used in padded)
    assert len(gate.batches) < len(waiting) / 3


def test_full_queue_turns_callers_away_and_takes_nothing() -> None:
    gate = Gate()
    batcher = MicroBatcher("nli model", gate.run, BatchLimits(queue_size=2))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(batcher.run_all, ["x"])
        assert gate.started.wait(5)
        second = pool.submit(batcher.run_all, ["a", "b"])
        while len(batcher._queue) < 2:
            time.sleep(0.001)
        with pytest.raises(Overloaded, match="nli model"):
            batcher.run_all(["c"])
        gate.opened.set()
        assert first.result(5) == ["X"]
        assert second.result(5) == ["A", "B"]
    batcher.close()
    assert sum(len(batch) for batch in gate.batches) == 3


def test_an_error_reaches_every_caller_and_the_worker_lives_on() -> None:
    def run(batch: list[str]) -> list[str]:
        if "bad" in batch:
            raise ValueError("boom")
        return batch

    batcher = MicroBatcher("m", run, BatchLimits())
    try:
        for _ in range(3):
            with pytest.raises(ValueError, match="boom"):
                batcher.run_all(["bad"])
        assert batcher.run_all(["good"]) == ["good"]
    finally:
        batcher.close()


def test_a_model_that_returns_too_few_results_is_an_error() -> None:
    batcher = MicroBatcher("m", lambda batch: batch[1:], BatchLimits())
    try:
        with pytest.raises(ValueError, match="shorter"):
            batcher.run_all(["a"])
    finally:
        batcher.close()


def test_close_finishes_what_is_queued_and_refuses_the_rest() -> None:
    gate = Gate()
    batcher = MicroBatcher("m", gate.run, BatchLimits(max_items=1))
    with ThreadPoolExecutor(2) as pool:
        call = pool.submit(batcher.run_all, ["a", "b", "c"])
        assert gate.started.wait(5)
        closing = pool.submit(batcher.close)
        gate.opened.set()
        closing.result(5)
        assert call.result(5) == ["A", "B", "C"]
    with pytest.raises(Unavailable, match="closed"):
        batcher.run_all(["d"])
    batcher.close()


def test_a_lone_request_does_not_wait_for_company() -> None:
    limits = BatchLimits(workers=2, gather_seconds=5)
    batcher = MicroBatcher("m", lambda batch: batch, limits)
    started = time.monotonic()
    batcher.run_all(["a"])
    assert time.monotonic() - started < 1
    batcher.close()

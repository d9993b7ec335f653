"""What is kept in memory about texts, and that whoever began before cannot put it back."""

import asyncio
import threading
from dataclasses import dataclass

import numpy as np

from service.adapters.onnx.batcher import BatchLimits, MicroBatcher
from service.adapters.onnx.embedder import OnnxEmbedder
from service.http.workers import WorkerPool
from service.ports.models import ModelIdentity


@dataclass(frozen=True)
class Letters:
    """Tokens of a text: its letters."""

    ids: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


class LetterTokenizer:
    def single(self, text: str) -> list[Letters]:
        return [Letters(tuple(map(ord, text)))]


def test_a_result_that_was_on_its_way_is_not_remembered():
    working, go_on = threading.Event(), threading.Event()
    go_on.set()

    def run(batch):
        working.set()
        assert go_on.wait(60)
        return [np.ones(4, dtype=np.float32) for _ in batch]

    embedder = OnnxEmbedder(
        ModelIdentity("letters", "embedder", "sha256:" + "0" * 64),
        LetterTokenizer(),
        MicroBatcher("letters", run, BatchLimits()),
        100,
    )
    embedder.embed(["kept before"])
    assert "kept before" in embedder._cache
    working.clear()
    go_on.clear()
    late = threading.Thread(target=embedder.embed, args=(["on its way"],))
    late.start()
    assert working.wait(60)
    embedder.clear()
    go_on.set()
    late.join()
    assert len(embedder._cache) == 0
    embedder.embed(["after"])
    assert list(embedder._cache) == ["after"]
    embedder.close()


def test_a_call_waits_for_those_that_began_before_and_for_no_others():
    async def scenario() -> list[str]:
        pool, said = WorkerPool(threads=4, queue=4), []
        first, second = threading.Event(), threading.Event()
        before = asyncio.create_task(pool.run(lambda: first.wait(60)))
        while not pool.busy:
            await asyncio.sleep(0)
        pool.once_quiet(lambda: said.append("quiet"))
        after = asyncio.create_task(pool.run(lambda: second.wait(60)))
        await asyncio.sleep(0.05)
        assert said == []
        first.set()
        await before
        assert said == ["quiet"]
        assert pool.busy == 1
        second.set()
        await after
        pool.once_quiet(lambda: said.append("at once"))
        return said

    assert asyncio.run(scenario()) == ["quiet", "at once"]

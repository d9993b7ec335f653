"""Recall over HTTP against one query embedding plus one raw Chroma query, measured in one run.

Usage: python loadtests/recall.py [users] [queries]

Seeds a temporary data directory through the tables, then starts a server of its own on a free port
of 127.0.0.1: one user with 10,000 facts, and 1,000 users with 200 each. Texts are made from 2,000
different sentences, whose vectors are the model's; the vectors of the others are those with a
little noise, to save time. Every question is asked once only, since the models remember. Exits with
1 if a request failed; missed targets are printed, not failures: the machine may be busy.
"""

from __future__ import annotations

import itertools
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from recall_data import Seeder, Spoken, sentences

from service.adapters.onnx.loading import ModelSettings, entry_for, load_embedder
from service.adapters.vectors.chroma import ChromaIndex
from service.ports.index import IndexKey

LARGE, SMALL = 10_000, 200
TARGET, TARGET_USERS = 1.5, 1.3
SERVER = Path(sys.executable).with_name("groundkeeper")


def main(users: str = "1000", queries: str = "120") -> int:
    """Print the figures; return 1 if any request failed."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as name:
        failed = measure(Path(name), int(users), int(queries))
    print(f"{failed} requests failed; {time.perf_counter() - started:.0f} s in all")
    return int(failed > 0)


def measure(folder: Path, users: int, queries: int) -> int:
    models = Path(os.environ.get("GROUNDKEEPER_MODELS__DIR", "data/models")).absolute()
    embedder = load_embedder(entry_for("embedder", None), ModelSettings(models, 1, 1, 512, 8192))
    spoken = sentences()
    random.Random(1).shuffle(spoken)
    vectors = np.concatenate([embedder.embed([s.text for s in p]) for p in parts(spoken, 32)])
    seeder = Seeder(folder / "data", spoken, vectors, embedder.identity.digest)
    large = seeder.user("large", LARGE)
    few = [seeder.user(f"user{n}", SMALL) for n in range(users)]
    seeder.close()
    print(f"seeded {LARGE} + {users} x {SMALL} facts", flush=True)
    asks = Questions(large, few)
    index = ChromaIndex(folder / "raw")
    index.put(IndexKey("default", "raw"), *seeder.noisy(LARGE))
    with server(folder, models) as http:
        figures = {
            "query embedding": timed(
                [lambda q=q: embedder.embed([q]) for q in asks.of("", queries)]
            ),
            "raw Chroma query": timed(
                [
                    lambda v=v: index.search(IndexKey("default", "raw"), v, 10)
                    for v in vectors[:queries]
                ]
            ),
        }
        failed = 0
        for label, user, receipt in (
            ("(first recalls, not counted)", "large", True),
            ("10,000 facts, receipt", "large", True),
            ("10,000 facts, no receipt", "large", False),
            (f"{users} users, first recall of each", "first", True),
            (f"{users} users, receipt", "few", True),
            (f"{users} users, no receipt", "few", False),
        ):
            bodies = [b | {"receipt": receipt} for b in asks.bodies(user, queries)]
            statuses: list[int] = []
            figures[label] = timed([lambda b=b, s=statuses: ask(http, b, s) for b in bodies])
            failed += sum(status != 200 for status in statuses)
    index.close()
    embedder.close()
    report(figures)
    return failed


class Questions:
    """Questions that some fact of the user answers, each handed out once."""

    def __init__(self, large: Sequence[Spoken], few: Sequence[Sequence[Spoken]]) -> None:
        self._large = large
        self._few = few
        self._used: set[str] = set()
        self._rotation = itertools.cycle(range(len(few)))
        self._asked: list[int] = []

    def of(self, user: str, count: int) -> list[str]:
        return [body["query"] for body in self.bodies(user or "large", count)]

    def bodies(self, user: str, count: int) -> list[dict]:
        return [self._body(user, n) for n in range(count)]

    def _body(self, user: str, n: int) -> dict:
        if user == "large":
            return {"user_id": "large", "query": self._new(self._large)}
        if user == "first":
            self._asked.append(next(self._rotation))
        chosen = self._asked[-1 - n % len(self._asked)]
        return {"user_id": f"user{chosen}", "query": self._new(self._few[chosen])}

    def _new(self, facts: Sequence[Spoken]) -> str:
        for fact in facts:
            for question in fact.questions:
                if question not in self._used:
                    self._used.add(question)
                    return question
        raise ValueError("no question is left; ask for fewer")


def report(figures: dict[str, list[float]]) -> None:
    print(f"\n{'':38}{'p50 ms':>9}{'p95 ms':>9}")
    for label, times in figures.items():
        p95 = times[int(0.95 * len(times))]
        print(f"{label:38}{statistics.median(times):9.2f}{p95:9.2f}")
    middle = {label: statistics.median(times) for label, times in figures.items()}
    base = middle["query embedding"] + middle["raw Chroma query"]
    large, few = middle["10,000 facts, receipt"], [m for k, m in middle.items() if "users" in k]
    print(f"\n10,000 facts / (embedding + Chroma): {large / base:.2f} (target {TARGET})")
    bare = middle["10,000 facts, no receipt"] / base
    print(f"the same without receipts: {bare:.2f}")
    print(f"many users / one user with 10,000: {few[1] / large:.2f} (target {TARGET_USERS})")
    print(f"first recall of a user / one user with 10,000: {few[0] / large:.2f}")


def ask(http: httpx.Client, body: dict, statuses: list[int]) -> None:
    statuses.append(http.post("/recall", json=body).status_code)


def timed(calls: Sequence[Callable[[], object]]) -> list[float]:
    times = []
    for call in calls:
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    return sorted(times)


def parts(values: Sequence[Spoken], size: int) -> Iterator[Sequence[Spoken]]:
    return (values[start : start + size] for start in range(0, len(values), size))


@contextmanager
def server(folder: Path, models: Path) -> Iterator[httpx.Client]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "DATA_DIR": str(folder / "data"),
        "KEY_DIR": str(folder / "keys"),
        "MODELS__DIR": str(models),
        "LOG_LEVEL": "error",
    }
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GROUNDKEEPER_")}
    env = kept | {f"GROUNDKEEPER_{k}": v for k, v in settings.items()}
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen([SERVER, "serve"], env=env, cwd=folder, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
            wait(http, process)
            yield http
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def wait(http: httpx.Client, process: subprocess.Popen[bytes], seconds: float = 90) -> None:
    """Wait until it is ready, and has compared its index with the tables."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        try:
            if http.get("/ready").status_code == 200:
                break
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    else:
        raise RuntimeError("the server did not become ready")
    used = cpu_seconds(process.pid)
    while time.monotonic() < until:
        time.sleep(1)
        before, used = used, cpu_seconds(process.pid)
        if used - before < 0.1:
            return


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

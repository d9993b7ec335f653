"""Recall over HTTP against one query embedding plus one raw Chroma query, measured in one run.

Usage: python loadtests/recall.py [users] [queries]

Seeds a temporary data directory through the tables, then starts a server of its own on a free port
of 127.0.0.1: one user with 10,000 facts, and 1,000 users with 200 each. Texts are made from 2,000
different sentences that the model embeds; every fact has the vector of its sentence with a little
noise, to save time. No query is sent twice, since the models remember. There are two kinds:
"restated" ones are so near to a fact that a store of 10,000 needs no second stage (a store of 200
always does), "questions" go through the entailment model in both. Exits with 1 if a request failed;
a missed target is printed and no failure: the machine may be busy.
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
USERS = {"large": "10,000 facts", "first": "first recalls", "few": "1,000 users"}
SERVER = Path(sys.executable).with_name("groundkeeper")


def main(users: str = "1000", queries: str = "100") -> int:
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
    figures: dict[str, list[float]] = {}
    statuses: list[int] = []
    with server(folder, models) as http:
        asked(http, asks.bodies("large", "question", 10), statuses)  # reads the 10,000
        alone = [b["query"] for b in asks.bodies("large", "restated", queries)]
        figures["query embedding"] = timed([lambda q=q: embedder.embed([q]) for q in alone])
        key = IndexKey("default", "raw")
        raw = [lambda v=v: index.search(key, v, 10) for v in vectors[:queries]]
        figures["raw Chroma query of 10,000"] = timed(raw)
        for kind, user, receipt in itertools.product(
            ("restated", "question"), ("large", "first", "few"), (True, False)
        ):
            if user != "first" or receipt:
                bodies = asks.bodies(user, kind, queries)
                label = f"{kind}, {USERS[user]}" + ("" if receipt else ", no receipt")
                figures[label] = asked(http, [b | {"receipt": receipt} for b in bodies], statuses)
    index.close()
    embedder.close()
    report(figures)
    return sum(status != 200 for status in statuses)


class Questions:
    """Questions that some fact of the user answers, each handed out once."""

    def __init__(self, large: Sequence[Spoken], few: Sequence[Sequence[Spoken]]) -> None:
        self._large = large
        self._few = few
        self._used: set[str] = set()
        self._rotation = itertools.cycle(range(len(few)))
        self._asked: list[int] = []

    def bodies(self, user: str, kind: str, count: int) -> list[dict]:
        if user == "first":
            self._asked = [next(self._rotation) for _ in range(count)]
        return [self._body(user, kind, n) for n in range(count)]

    def _body(self, user: str, kind: str, n: int) -> dict:
        if user == "large":
            return {"user_id": "large", "query": self._new(self._large, kind)}
        chosen = self._asked[n % len(self._asked)]
        return {"user_id": f"user{chosen}", "query": self._new(self._few[chosen], kind)}

    def _new(self, facts: Sequence[Spoken], kind: str) -> str:
        for fact in facts:
            for query in (fact.restated,) if kind == "restated" else fact.questions:
                if query not in self._used:
                    self._used.add(query)
                    return query
        raise ValueError("no query is left; ask for fewer")


def report(figures: dict[str, list[float]]) -> None:
    print(f"\n{'':38}{'p50 ms':>9}{'p95 ms':>9}")
    for label, times in figures.items():
        p95 = times[int(0.95 * len(times))]
        print(f"{label:38}{statistics.median(times):9.2f}{p95:9.2f}")
    middle = {label: statistics.median(times) for label, times in figures.items()}
    base = middle["query embedding"] + middle["raw Chroma query of 10,000"]
    print(f"\n{'ratios':38}{'restated':>9}{'question':>9}")
    for label, user, over, target in (
        ("10,000 facts / (embedding + Chroma)", "large", "", TARGET),
        ("1,000 users / one with 10,000", "few", "large", TARGET_USERS),
        ("first recall / one with 10,000", "first", "large", None),
    ):
        ratios = [
            middle[f"{kind}, {USERS[user]}"] / (middle[f"{kind}, {USERS[over]}"] if over else base)
            for kind in ("restated", "question")
        ]
        aim = "" if target is None else f"   target {target}"
        print(f"{label:38}{ratios[0]:9.2f}{ratios[1]:9.2f}{aim}")


def asked(http: httpx.Client, bodies: Sequence[dict], statuses: list[int]) -> list[float]:
    return timed([lambda b=b: ask(http, b, statuses) for b in bodies])


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

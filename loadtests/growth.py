"""What it costs as the store grows: time, memory and disk from 1,000 facts to 1,000,000.

Usage: python loadtests/growth.py [--sizes 1000 10000 100000 1000000] [--each 1000] [--chroma N]

One store grows from size to size, ``--each`` facts per user, and a second one has 10,000 facts of
one user. At each size a server starts on it and is asked by 1, 8 and 64 clients. The facts are
10,000 different sentences that the model embedded; a further fact has the vector of its sentence
with a little noise, and all are written in bulk through the store, since embedding and judging a
million sentences would take hours; how many is told. ``--chroma`` is the largest store for which
the index is also rebuilt with every user in Chroma. Writes ``results/growth.json``, ``growth.md``
and ``growth.png``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import report
from client import drive
from recall_data import Seeder
from report import conditions, spread, table
from said import Fact, Talk, facts
from serving import Served, disk_mb, free_port, models_dir, ready, serving, spawn, stop, tail

from service import bootstrap
from service.adapters.onnx.loading import ModelSettings, entry_for, load_embedder
from service.settings import Models, Settings, Vectors

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ONE_USER = 10_000
SENTENCES = 10_000
ENOUGH = 200  # users who are asked, of those there are
CLIENTS = (1, 8, 64)
PER_CLIENT, LEAST = 10, 60
WRITES = 20
TURNS, PER_TURN = 6, 15
TARGET = 1.3


@dataclass(slots=True)
class Growing:
    """A store on disk and what is in it."""

    folder: Path
    stock: Sequence[Fact]
    vectors: np.ndarray
    digest: str
    users: list[tuple[str, int, int]] = field(default_factory=list)  # name, first fact, how many

    @property
    def facts(self) -> int:
        return sum(count for _, _, count in self.users)

    def grow(self, users: int, each: int) -> float:
        """Add users until there are so many; return seconds per fact."""
        started, before = time.perf_counter(), self.facts
        spoken = [f.spoken for f in self.stock]
        seeder = Seeder(self.folder, spoken, self.vectors, self.digest)
        for n in range(len(self.users), users):
            start = n * each % len(self.stock)
            seeder.user(f"{self.folder.name}{n}", each, start=start)
            self.users.append((f"{self.folder.name}{n}", start, each))
        seeder.close()
        return (time.perf_counter() - started) / max(1, self.facts - before)


def main(arguments: list[str]) -> int:
    """Measure, write the results, and return 1 if any request failed."""
    parser = argparse.ArgumentParser(prog="growth.py")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--each", type=int, default=1_000)
    parser.add_argument("--one-user", type=int, default=ONE_USER)
    parser.add_argument("--chroma", type=int, default=100_000)
    parser.add_argument("--sentences", type=int, default=SENTENCES)
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"machine": report.machine(), "clients": list(CLIENTS), "stores": []}
    found["target"] = TARGET
    with tempfile.TemporaryDirectory(prefix="growth-") as name:
        stock = facts(given.sentences)
        found["sentences"] = len(stock)
        vectors, digest, seconds = embedded(stock)
        found["embedding_ms_per_fact"] = round(seconds / len(stock) * 1000, 3)
        many = Growing(Path(name) / "many", stock, vectors, digest)
        one = Growing(Path(name) / "one", stock, vectors, digest)
        plan = [(one, 1, given.one_user)]
        plan += [(many, -(-size // given.each), given.each) for size in given.sizes]
        for store, users, each in plan:
            print(f"{users} x {each} facts ...", flush=True)
            seeding = store.grow(users, each)
            measured = measure(store, chroma=store.facts <= given.chroma)
            if store is many:
                measured["beside_one"] = beside(one, many)
            found["stores"].append({"bulk_ms_per_fact": round(seeding * 1000, 3), **measured})
            finish(found)
    report.draw("growth")
    return int(any(s["failed"] for s in found["stores"]))


def finish(found: dict[str, Any]) -> None:
    """Write what there is so far, so that a long run leaves something if it is stopped."""
    report.write("growth", found, text(found))


def beside(one: Growing, many: Growing) -> dict[str, Any]:
    """Ask both stores in turn, so that both meet the same machine; compare the medians."""
    times: dict[str, list[float]] = {"one": [], "many": []}
    asks = {"one": Asks(one), "many": Asks(many)}
    with serving(one.folder) as first, serving(many.folder) as second:
        ports = {"one": first.port, "many": second.port}
        for _ in range(TURNS):
            for name, ask in asks.items():
                times[name] += drive(ports[name], "/recall", ask.bodies(PER_TURN)).times
    middle = {name: statistics.median(found) for name, found in times.items()}
    return {
        "one_ms": round(middle["one"], 2),
        "many_ms": round(middle["many"], 2),
        "ratio": round(middle["many"] / middle["one"], 3),
    }


def embedded(stock: Sequence[Fact]) -> tuple[np.ndarray, str, float]:
    """Return the vectors of the sentences, whose they are and how many seconds they took."""
    embedder = load_embedder(entry_for("embedder", None), ModelSettings(models_dir()))
    started = time.perf_counter()
    vectors = embedder.embed([f.text for f in stock])
    seconds = time.perf_counter() - started
    embedder.close()
    return vectors, embedder.identity.digest, seconds


def measure(store: Growing, *, chroma: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"facts": store.facts, "users": len(store.users)}
    found["rebuild_seconds"] = rebuild(store.folder, Vectors())
    found["start_seconds"] = start_seconds(store.folder)
    asks = Asks(store)
    with serving(store.folder) as served:
        found["resident_ready_mb"] = round(served.resident_mb, 1)
        found["first_recall_ms"] = spread(recall(served, asks.bodies(LEAST), 1, found))
        at_once = {}
        for clients in CLIENTS:
            bodies = asks.bodies(max(LEAST, clients * PER_CLIENT))
            started = time.perf_counter()
            times = recall(served, bodies, clients, found)
            rate = len(bodies) / (time.perf_counter() - started)
            at_once[str(clients)] = {"per_second": round(rate, 2), "ms": spread(times)}
        found["at_once"] = at_once
        found["recall_ms"] = at_once["1"]["ms"]
        found["write_ms"] = spread(write(served, store, found))
        found["resident_mb"] = round(served.resident_mb, 1)
    found["disk_mb"] = round(disk_mb(store.folder), 1)
    if chroma:
        found["rebuild_chroma_seconds"] = rebuild(store.folder, Vectors(large=1))
    return found


class Asks:
    """Questions that the store answers; no text is asked twice of one server."""

    def __init__(self, store: Growing) -> None:
        chance = random.Random(5)
        self._rest = [
            {"user_id": name, "query": store.stock[(first + n) % len(store.stock)].questions[which]}
            for name, first, count in chance.sample(store.users, min(len(store.users), ENOUGH))
            for n in chance.sample(range(count), min(count, 2_500))
            for which in (0, 1)
        ]
        chance.shuffle(self._rest)
        self._rest = list({body["query"]: body for body in self._rest}.values())

    def bodies(self, count: int) -> list[dict[str, str]]:
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


def recall(
    served: Served, bodies: Sequence[object], clients: int, found: dict[str, Any]
) -> list[float]:
    outcome = drive(served.port, "/recall", bodies, clients=clients)
    found["failed"] = found.get("failed", 0) + outcome.failed
    return outcome.times


def write(served: Served, store: Growing, found: dict[str, Any]) -> list[float]:
    """Write new facts of users who have many, one after another."""
    talk = Talk(store.facts)
    users = [name for name, _, _ in store.users[-WRITES:]]
    bodies = [talk.structured(users[n % len(users)]) for n in range(WRITES)]
    outcome = drive(served.port, "/memory", bodies)
    found["failed"] += outcome.failed
    return outcome.times


def rebuild(folder: Path, vectors: Vectors) -> float:
    """Seconds to put the vector index together again from SQL."""
    settings = Settings(
        _env_file=None,
        data_dir=folder / "data",
        key_dir=folder / "keys",
        models=Models(dir=models_dir()),
        vectors=vectors,
        log_level="error",
    )
    container = bootstrap.build(settings)
    try:
        container.loader.start()
        container.loader.wait()
        started = time.perf_counter()
        container.index.reindex()
        return round(time.perf_counter() - started, 3)
    finally:
        container.close()


def start_seconds(folder: Path) -> float:
    """Seconds from starting the process to being ready."""
    port = free_port()
    started = time.perf_counter()
    process = spawn(folder, port)
    served = Served(f"http://127.0.0.1:{port}", port, process, folder / "server.log")
    try:
        with served.client() as http:
            while not ready(http):
                if process.poll() is not None:
                    raise RuntimeError(f"the server did not start:\n{tail(served.log)}")
                time.sleep(0.02)
        return round(time.perf_counter() - started, 3)
    finally:
        stop(process)


def text(found: dict[str, Any]) -> str:
    """Return the report."""
    stores = found["stores"]
    rows = [
        [
            s["facts"],
            s["users"],
            s["recall_ms"]["p50"],
            s["recall_ms"]["p95"],
            s["first_recall_ms"]["p50"],
            s["write_ms"]["p50"],
            s["resident_mb"],
            s["disk_mb"],
            s["start_seconds"],
            s["rebuild_seconds"],
            s.get("rebuild_chroma_seconds"),
        ]
        for s in stores
    ]
    head = ["facts", "users", "recall p50 ms", "p95 ms", "first recalls p50 ms", "write p50 ms"]
    head += ["resident MB", "disk MB", "start s", "rebuild s", "rebuild, all in Chroma, s"]
    crowd = [
        [s["facts"], s["users"], *(c for n in found["clients"] for c in at_once(s, n))]
        for s in stores
    ]
    titles = [f"{n} clients: {what}" for n in found["clients"] for what in ("per s", "p95 ms")]
    ratios = [
        [s["facts"], s["users"], b["one_ms"], b["many_ms"], b["ratio"], found["target"]]
        for s in stores
        if (b := s.get("beside_one"))
    ]
    million = found["embedding_ms_per_fact"] * 1e6 / 3.6e6
    bulk = stores[-1]["bulk_ms_per_fact"]
    return "\n\n".join(
        [
            "# Growth",
            conditions(found["machine"]),
            table(head, rows),
            "Recall by clients at once:",
            table(["facts", "users", *titles], crowd),
            f"Recall p50 beside the store with {stores[0]['facts']:,} facts of one user, both "
            "asked in turn:",
            table(["facts", "users", "one user, ms", "this store, ms", "ratio", "at most"], ratios),
            f"Facts were written in bulk through the store, {bulk:.2f} ms each, with the vectors "
            f"of {found['sentences']:,} sentences and a little noise. Embedding takes "
            f"{found['embedding_ms_per_fact']:.2f} ms a sentence in full batches, so a million "
            f"would take {million:.1f} h; writing a million one by one through the gate, at the "
            f"p50 above, {stores[-1]['write_ms']['p50'] * 1e6 / 3.6e6:.0f} h.",
        ]
    )


def at_once(store: dict[str, Any], clients: int) -> list[float]:
    found = store["at_once"][str(clients)]
    return [found["per_second"], found["ms"]["p95"]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

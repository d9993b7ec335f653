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
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from recall_data import Seeder, Spoken, sentences
from report import spread, table
from serving import models_dir, serving

from service.adapters.onnx.loading import ModelSettings, entry_for, load_embedder
from service.adapters.vectors.chroma import ChromaIndex
from service.ports.index import IndexKey

LARGE, SMALL = 10_000, 200
TARGET, TARGET_USERS = 1.5, 1.3
USERS = {"large": "10,000 facts", "first": "first recalls", "few": "many small users"}
EMBEDDING, CHROMA, NUMPY = "query embedding", "raw Chroma query", "raw numpy search"


def main(users: str = "1000", queries: str = "100") -> int:
    """Print the figures; return 1 if any request failed."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="recall-bench-") as name:
        figures = measure(Path(name), int(users), int(queries))
    print(text(figures))
    print(f"{figures['failed']} requests failed; {time.perf_counter() - started:.0f} s in all")
    return int(figures["failed"] > 0)


def measure(folder: Path, users: int, queries: int) -> dict[str, Any]:
    """Return the times in milliseconds, the ratios and how many requests failed."""
    settings = ModelSettings(models_dir(), 1, 1, 512, 8192)
    embedder = load_embedder(entry_for("embedder", None), settings)
    spoken = sentences()
    random.Random(1).shuffle(spoken)
    vectors = np.concatenate([embedder.embed([s.text for s in p]) for p in parts(spoken, 32)])
    seeder = Seeder(folder, spoken, vectors, embedder.identity.digest)
    large = seeder.user("large", LARGE)
    few = [seeder.user(f"user{n}", SMALL) for n in range(users)]
    seeder.close()
    print(f"seeded {LARGE} + {users} x {SMALL} facts", flush=True)
    asks = Questions(large, few)
    index = ChromaIndex(folder / "raw")
    ids, matrix = seeder.noisy(LARGE)
    index.put(IndexKey("default", "raw"), ids, matrix)
    figures: dict[str, list[float]] = {}
    statuses: list[int] = []
    with serving(folder) as served, served.client() as http:
        asked(http, asks.bodies("large", "question", 10), statuses)  # reads the 10,000
        alone = [b["query"] for b in asks.bodies("large", "restated", queries)]
        figures[EMBEDDING] = timed([lambda q=q: embedder.embed([q]) for q in alone])
        key = IndexKey("default", "raw")
        figures[CHROMA] = timed([lambda v=v: index.search(key, v, 10) for v in vectors[:queries]])
        figures[NUMPY] = timed([lambda v=v: nearest(matrix, v, 10) for v in vectors[:queries]])
        for kind, user, receipt in itertools.product(
            ("restated", "question"), ("large", "first", "few"), (True, False)
        ):
            if user != "first" or receipt:
                bodies = asks.bodies(user, kind, queries)
                label = f"{kind}, {USERS[user]}" + ("" if receipt else ", no receipt")
                figures[label] = asked(http, [b | {"receipt": receipt} for b in bodies], statuses)
    index.close()
    embedder.close()
    return {
        "users": users,
        "queries": queries,
        "failed": sum(status != 200 for status in statuses),
        "times_ms": {label: spread(times) for label, times in figures.items()},
        "ratios": ratios({label: statistics.median(times) for label, times in figures.items()}),
    }


def nearest(matrix: np.ndarray, vector: np.ndarray, count: int) -> np.ndarray:
    """Search exactly, with numpy alone."""
    scores = np.vecdot(matrix, vector)  # one thread: what starts others for this costs more
    rows = np.argpartition(scores, len(scores) - count)[-count:]
    return rows[np.argsort(-scores[rows])]


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


def ratios(middle: dict[str, float]) -> list[dict[str, Any]]:
    """Return what the medians are compared with, for either kind of query."""
    found = []
    for label, user, over, target in (
        ("10,000 facts / (embedding + raw Chroma)", "large", (EMBEDDING, CHROMA), TARGET),
        ("10,000 facts / (embedding + raw numpy)", "large", (EMBEDDING, NUMPY), None),
        ("many small users / one with 10,000", "few", ("large",), TARGET_USERS),
        ("first recall / one with 10,000", "first", ("large",), None),
    ):
        row: dict[str, Any] = {"ratio": label, "target": target}
        for kind in ("restated", "question"):
            names = [f"{kind}, {USERS[o]}" if o in USERS else o for o in over]
            base = sum(middle[name] for name in names)
            row[kind] = round(middle[f"{kind}, {USERS[user]}"] / base, 3)
        found.append(row)
    return found


def text(figures: dict[str, Any]) -> str:
    """The same as two tables."""
    times = [[label, t["p50"], t["p95"]] for label, t in figures["times_ms"].items()]
    compared = [[r["ratio"], r["target"], r["restated"], r["question"]] for r in figures["ratios"]]
    return "\n\n".join(
        (
            table(["milliseconds", "p50", "p95"], times),
            table(["ratio of medians", "target", "restated", "question"], compared),
        )
    )


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


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The same facts and questions for this service and for three memory libraries.

The libraries are called in processes of their own, without HTTP; this service is asked over HTTP.
Each store grows to 1,000 and then 10,000 facts of one user. Speed alone says little about a memory,
so what comes back is judged as well: did the wanted fact come first, was it one of five, and what
is said to questions about persons of whom nothing is known? Questions go through every
matter in both of its forms; the facts are then asked for once more as statements.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from client import Connection, drive
from recall_data import Seeder
from report import ROOT, spread
from said import ROWS, Fact, facts, unknown
from serving import Served, disk_mb, models_dir, serving

from service.adapters.onnx.loading import ModelSettings, entry_for, load_embedder

PEERS = ("mneme", "memoose", "memvara")
TARGETS = {"mneme": 10, "memoose": 10, "memvara": 1}  # how many times our recall p50
PYTHON = ROOT.parent / ".venv-peers" / "bin" / "python"
SIZES = (1_000, 10_000)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # with more, all cores spin for the same result
FILL_SECONDS = 180.0
LAST = 100  # writes whose times count, at the end of filling
OWN_WRITES = 30
WARMING = 5  # questions before those that count


class Process:
    """A peer in its own environment."""

    def __init__(self, name: str) -> None:
        script = ROOT / "peers" / f"{name}_peer.py"
        self._process = subprocess.Popen(
            [PYTHON, script],
            env=os.environ | ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **asked: Any) -> dict[str, Any]:
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the peer stopped")
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)


@contextmanager
def running(name: str) -> Iterator[Process]:
    process = Process(name)
    try:
        yield process
    finally:
        process.close()


def measure(folder: Path, queries: int, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Return the figures of everyone, at each size."""
    stock = facts(max(sizes))
    found = {"groundkeeper": own(folder / "own", stock, queries, sizes)}
    if PYTHON.exists():
        for name in PEERS:
            print(f"peer {name}", flush=True)
            found[name] = peer(name, folder / name, stock, queries, sizes)
    return {"sizes": list(sizes), "queries": queries, "systems": found, "targets": TARGETS}


def peer(
    name: str, folder: Path, stock: Sequence[Fact], queries: int, sizes: Sequence[int]
) -> dict[str, Any]:
    folder.mkdir(parents=True)
    found: dict[str, Any] = {"over": "library call", "sizes": {}}
    left, held, last = FILL_SECONDS, 0, []
    with running(name) as process:
        found["about"] = process.ask(do="open", folder=str(folder))["about"]
        for size in sizes:
            given = [shown(f) for f in stock[held:size]]
            times = process.ask(do="remember", facts=given, seconds=left)["ms"]
            left -= sum(times) / 1000
            held += len(times)
            last = times[-LAST:] or last
            at = asked(held, stock, queries, lambda qs: process.ask(do="recall", queries=qs))
            at["remember_ms"] = spread(last)
            at["verify_ms"] = process.ask(do="verify")["checks"]
            at["disk_mb"] = round(disk_mb(folder), 1)
            found["sizes"][str(size)] = at | {"facts": held}
            if held < size:
                found["note"] = f"only {held} facts fitted into {FILL_SECONDS:.0f} s of writing"
                break
    return found


def own(folder: Path, stock: Sequence[Fact], queries: int, sizes: Sequence[int]) -> dict[str, Any]:
    seed(folder, stock, sizes)
    found: dict[str, Any] = {
        "over": "HTTP",
        "about": "exact vectors, BM25 and an entailment model; receipt with every recall; "
        "every write passes the gate. Filled through the tables, written to over HTTP",
        "sizes": {},
    }
    with serving(folder) as served:
        for size in sizes:
            user = f"user{size}"
            at = asked(size, stock, queries, lambda qs, user=user: recall(served, user, qs))
            at["verify_ms"] = verify(served, user)
            at["remember_ms"] = remember(served, user, size)
            found["sizes"][str(size)] = at | {"facts": size}
    found["sizes"][str(sizes[-1])]["disk_mb"] = round(disk_mb(folder / "data"), 1)
    return found


def seed(folder: Path, stock: Sequence[Fact], sizes: Sequence[int]) -> None:
    embedder = load_embedder(entry_for("embedder", None), ModelSettings(models_dir()))
    spoken = [f.spoken for f in stock]
    vectors = embedder.embed([s.text for s in spoken])
    seeder = Seeder(folder, spoken, vectors, embedder.identity.digest, noise=0.0)
    for size in sizes:
        seeder.user(f"user{size}", size, start=0)
    seeder.close()
    embedder.close()


def recall(served: Served, user: str, queries: Sequence[str]) -> dict[str, Any]:
    bodies = [{"user_id": user, "query": q, "top_k": 5} for q in queries]
    outcome = drive(served.port, "/recall", bodies, keep=texts)
    if outcome.failed:
        raise RuntimeError(f"{outcome.failed} recalls failed")
    return {"ms": outcome.times, "hits": outcome.answers}


def texts(answer: dict[str, Any]) -> list[str]:
    return [memory["text"] for memory in answer["memories"]]


def remember(served: Served, user: str, size: int) -> dict[str, float]:
    """Write facts of which the store has none, one after another."""
    fresh = facts(size + 12_000)[-OWN_WRITES - 3 :]
    bodies = [{"user_id": user, "fact": {"text": f.text, "source": f.said}} for f in fresh]
    outcome = drive(served.port, "/memory", bodies)
    if outcome.failed:
        raise RuntimeError(f"{outcome.failed} writes failed")
    return spread(outcome.times[3:])


def verify(served: Served, user: str) -> dict[str, float]:
    """Time the checks that it has of its own records."""
    connection = Connection(served.port)
    asked_for = {"user_id": user, "query": "Where does my brother Tom live?"}
    receipt = connection.post("/recall", asked_for)[1]["receipt"]
    again = drive(served.port, "/recall/verify", [{"receipt": receipt}] * 5, keep=verified)
    found = {"receipt of one recall": statistics.median(again.times)}
    if not all(again.answers):
        raise RuntimeError("a receipt does not verify")
    for name, path in (
        ("every memory against its turn", f"/memories/drift?user_id={user}"),
        ("audit log", "/audit/verify"),
    ):
        found[name] = timed(connection, path)
    connection.close()
    return found


def timed(connection: Connection, path: str) -> float:
    started = time.perf_counter()
    status, _ = connection.get(path)
    if status != 200:
        raise RuntimeError(f"{path} answered {status}")
    return (time.perf_counter() - started) * 1000


def verified(answer: dict[str, Any]) -> bool:
    return answer["verified"] is True


def asked(size: int, stock: Sequence[Fact], queries: int, ask: Any) -> dict[str, Any]:
    """Ask about what is known, in two ways, and about what is not; judge what comes back."""
    known = chosen(stock, size, queries)
    ask(unknown(queries + WARMING)[queries:])
    questions = [fact.questions[form] for fact, form in known]
    found: dict[str, Any] = {}
    for kind, sent in (("", questions), ("restated_", [f.spoken.restated for f, _ in known])):
        answers = ask(sent)
        found[f"recall_{kind}ms"] = spread(answers["ms"])
        pairs = list(zip([fact for fact, _ in known], answers["hits"], strict=True))
        right = [judged(fact, hits) for fact, hits in pairs]
        found[f"{kind}person_right"] = share([named(fact, hits) for fact, hits in pairs])
        found[f"{kind}first_right"] = share([r[:1] == [True] for r in right])
        found[f"{kind}any_of_five"] = share([any(r) for r in right])
    strange = ask(unknown(queries))
    found["recall_unknown_ms"] = spread(strange["ms"])
    return found | {"unknown_answered": share([bool(hits) for hits in strange["hits"]])}


def share(found: Sequence[bool]) -> float:
    return round(sum(found) / len(found), 3)


def chosen(stock: Sequence[Fact], size: int, count: int) -> list[tuple[Fact, int]]:
    """Return facts of persons all over the stock, every attribute in turn, each question form."""
    persons, matters = max(1, size // len(ROWS)), len(ROWS)
    places = [
        (n * persons // count * matters + n % matters, n // matters % 2) for n in range(count)
    ]
    return [(stock[place], form) for place, form in places]


def judged(fact: Fact, hits: Sequence[str]) -> list[bool]:
    """Say of each hit whether it holds that person, that matter and that value."""
    wanted = f" {fact.person} {fact.verb} {fact.value}".lower()
    return [wanted in hit.lower() for hit in hits]


def named(fact: Fact, hits: Sequence[str]) -> bool:
    """Say whether what came first is about that person, whatever it says of them."""
    return any(f" {fact.person} ".lower() in f" {hit}".lower() for hit in hits[:1])


def shown(fact: Fact) -> dict[str, str]:
    return {
        "person": fact.person,
        "attribute": fact.attribute,
        "verb": fact.verb,
        "value": fact.value,
        "text": fact.text,
        "said": fact.said,
    }

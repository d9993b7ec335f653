"""What clients of the service do, for locust; ``load.py`` starts it without a screen.

``locust -f loadtests/locustfile.py --host http://127.0.0.1:8000 ChatBackend`` works as well, with a
service that holds the users that ``load.py`` makes. Runs in an environment of its own, without the
service's packages, so what is said comes from a file that ``load.py`` writes.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from pathlib import Path
from typing import Any

from locust import FastHttpUser, events, task

SAID = Path(os.environ.get("LOAD_SAID", Path(__file__).with_name("said.json")))
SHARES = (50, 66, 75, 80, 90, 95, 98, 99)


class Stock:
    """Prepared requests, each handed out once before any comes again."""

    def __init__(self, path: Path, share: float) -> None:
        found: dict[str, list[Any]] = json.loads(path.read_text(encoding="utf-8"))
        self._bodies = {
            kind: itertools.islice(itertools.cycle(bodies), int(share * len(bodies)), None)
            for kind, bodies in found.items()
        }

    def take(self, kind: str) -> Any:
        return next(self._bodies[kind])


SHARE = float(os.environ.get("LOAD_SHARE", "0"))  # where in the stock this run begins
STOCK = Stock(SAID, SHARE) if SAID.exists() else None


class Client(FastHttpUser):
    """Sends what the stock has."""

    abstract = True
    connection_timeout = network_timeout = 120.0

    def send(self, path: str, kind: str) -> None:
        with self.client.post(
            path, json=STOCK.take(kind), name=f"{path} ({kind})", catch_response=True
        ) as answer:
            if not 200 <= answer.status_code < 300:
                answer.failure(f"status {answer.status_code}")


class ChatBackend(Client):
    """A chat backend: it mostly asks, writes what users say, and checks some facts."""

    @task(7)
    def recall(self) -> None:
        self.send("/recall", "question")

    @task(2)
    def ingest(self) -> None:
        self.send("/memory", "message")

    @task(1)
    def check(self) -> None:
        self.send("/check", "check")


class CheckHeavy(Client):
    """A pipeline that checks every fact before somebody else stores it."""

    @task(9)
    def check(self) -> None:
        self.send("/check", "check")

    @task(1)
    def weigh(self) -> None:
        self.send("/check", "conversation")


class BatchImport(Client):
    """A migration: facts in batches to the gate, and structured facts to the store."""

    @task(1)
    def batch(self) -> None:
        self.send("/check/batch", "batch")

    @task(3)
    def structured(self) -> None:
        self.send("/memory", "structured")


def percentile(entry: Any, share: int) -> float:
    """Locust rounds what it keeps to two digits, which can make it more than the maximum."""
    return min(entry.get_response_time_percentile(share / 100), round(entry.max_response_time, 1))


@events.init.add_listener
def _same_order(**_given: object) -> None:
    random.seed(7)


@events.quitting.add_listener
def _keep(environment: Any, **_given: object) -> None:
    """Write what was measured to the file that ``load.py`` reads."""
    if "LOAD_OUT" not in os.environ:
        return
    entries = sorted(environment.stats.entries.values(), key=lambda e: e.name)
    found = [
        {
            "name": e.name,
            "requests": e.num_requests,
            "failures": e.num_failures,
            "per_second": round(e.total_rps, 2),
            "mean_ms": round(e.avg_response_time, 1),
            "max_ms": round(e.max_response_time, 1),
            "percentiles_ms": {s: percentile(e, s) for s in SHARES},
        }
        for e in (*entries, environment.stats.total)
    ]
    errors = [f"{e.name}: {e.error}" for e in environment.stats.errors.values()]
    kept = {"entries": found, "errors": errors[:20]}
    Path(os.environ["LOAD_OUT"]).write_text(json.dumps(kept), encoding="utf-8")

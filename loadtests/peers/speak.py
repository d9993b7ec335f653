"""What the adapters have in common: one JSON request per line in, one answer per line out.

The times are those of the library calls alone, taken in the peer's own process, in milliseconds.
Only the standard library is used here: this runs in the peers' environment.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

TOP = 5


class Peer(Protocol):
    """One memory library behind three verbs."""

    about: str

    def remember(self, fact: dict[str, Any]) -> None:
        """Write one fact."""
        ...

    def recall(self, query: str) -> list[str]:
        """Return the texts that come back, best first."""
        ...

    def verify(self) -> dict[str, Callable[[], object]]:
        """Return its checks of its own records by name; none if it has none."""
        ...


def serve(make: Callable[[Path], Peer]) -> None:
    """Answer until standard input ends; what a library prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    peer: Peer | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "open":
            peer = make(Path(asked["folder"]))
            found: dict[str, Any] = {"about": peer.about}
        elif peer is None:
            found = {"error": "nothing is open"}
        else:
            found = answer(peer, asked)
        answers.write(json.dumps(found) + "\n")
        answers.flush()


def answer(peer: Peer, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["do"] == "remember":
        return remembered(peer, asked["facts"], asked["seconds"])
    if asked["do"] == "recall":
        return recalled(peer, asked["queries"])
    checks = peer.verify()
    return {"checks": {name: timed(check)[0] for name, check in checks.items()}}


def remembered(peer: Peer, facts: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Write until the time is used up; say how many there was time for."""
    until, times = time.monotonic() + seconds, []
    for fact in facts:
        if time.monotonic() > until:
            break
        times.append(timed(lambda fact=fact: peer.remember(fact))[0])
    return {"ms": times}


def recalled(peer: Peer, queries: list[str]) -> dict[str, Any]:
    times, hits = [], []
    for query in queries:
        took, found = timed(lambda query=query: peer.recall(query))
        times.append(took)
        hits.append(found[:TOP])
    return {"ms": times, "hits": hits}


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = call()
    return (time.perf_counter() - started) * 1000, found

"""Ask a running service the same checks alone and from 32 clients at once, and compare.

Usage: python loadtests/parallel.py [URL] [checks]
"""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlsplit

from client import drive
from report import spread, table

CLIENTS = 32


def main(url: str = "http://127.0.0.1:8000", checks: str = "256") -> int:
    """Print the figures; return 1 if any request failed."""
    figures = measure(url, int(checks))
    print(text(figures))
    return int(figures["failed"] > 0)


def measure(url: str, checks: int) -> dict[str, Any]:
    """Return rate and times of both, how they compare, and how many requests failed."""
    port = urlsplit(url).port or 80
    found: dict[str, Any] = {"checks": checks, "failed": 0, "clients": {}}
    for clients in (1, CLIENTS):
        bodies = [body(f"{clients}-{n}") for n in range(checks)]
        outcome = drive(port, "/check", bodies, clients=clients)
        found["failed"] += outcome.failed
        rate = round(outcome.rate, 2)
        found["clients"][str(clients)] = {"per_second": rate, "ms": spread(outcome.times)}
    one, many = (found["clients"][str(n)]["per_second"] for n in (1, CLIENTS))
    found["ratio"] = round(many / one, 3)
    return found


def body(name: str) -> dict[str, Any]:
    """A check that no cache has seen."""
    return {
        "source": f"I moved to house {name} in Lisbon, and I work as a nurse there.",
        "fact": f"The user moved to house {name}.",
        "record": False,
    }


def text(figures: dict[str, Any]) -> str:
    rows = [
        [clients, found["per_second"], found["ms"]["p50"], found["ms"]["p95"]]
        for clients, found in figures["clients"].items()
    ]
    return (
        table(["clients", "checks/s", "p50 ms", "p95 ms"], rows)
        + f"\n\n{CLIENTS} clients do {figures['ratio']} times the work of one; "
        f"{figures['failed']} of {2 * figures['checks']} requests failed."
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

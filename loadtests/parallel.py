"""Ask a running service the same checks alone and from 32 clients at once, and compare.

Usage: python loadtests/parallel.py [URL] [checks]
"""

from __future__ import annotations

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

CLIENTS = 32


def main(url: str = "http://127.0.0.1:8000", checks: str = "256") -> int:
    """Print the figures; return 1 if any request failed."""
    count = int(checks)
    failed = 0
    rates = {}
    for clients in (1, CLIENTS):
        started = time.perf_counter()
        limits = httpx.Limits(max_connections=clients)
        names = [f"{clients}-{n}" for n in range(count)]
        with (
            httpx.Client(base_url=url, timeout=120, limits=limits) as http,
            ThreadPoolExecutor(clients) as pool,
        ):
            results = list(pool.map(lambda name, http=http: ask(http, name), names))
        rates[clients] = count / (time.perf_counter() - started)
        failed += sum(status != 200 for status, _ in results)
        times = sorted(seconds * 1000 for _, seconds in results)
        print(
            f"{clients:3} clients: {rates[clients]:7.1f} checks/s, "
            f"median {statistics.median(times):.0f} ms, "
            f"95% under {times[int(0.95 * len(times))]:.0f} ms"
        )
    print(f"{CLIENTS} clients do {rates[CLIENTS] / rates[1]:.1f} times the work of one")
    print(f"{failed} requests failed")
    return int(failed > 0)


def ask(http: httpx.Client, name: str) -> tuple[int, float]:
    """Send one check that no cache has seen; return its status and time."""
    asked = {
        "source": f"I moved to house {name} in Lisbon, and I work as a nurse there.",
        "fact": f"The user moved to house {name}.",
        "record": False,
    }
    started = time.perf_counter()
    answer = http.post("/check", json=asked)
    return answer.status_code, time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

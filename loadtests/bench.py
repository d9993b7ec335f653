"""Everything side by side, in one run on one machine: the figures that count are ratios.

Usage: python loadtests/bench.py [--quick] [part ...]

Parts: models (bare ONNX Runtime), recall (bare Chroma and numpy), sqlite (bare SQLite) and peers
(other memory libraries). Without any, all of them. Writes ``results/bench.json`` and ``bench.md``.
``--quick`` does a little of everything, to see that it works; its figures mean nothing and are not
kept. Exits with 1 if a request failed; a missed target is no failure, it is told.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import against_models
import against_peers
import against_sqlite
import bench_text
import recall
import report

PARTS = ("models", "recall", "sqlite", "peers")
CORES = os.cpu_count() or 1
Measure = Callable[[Path], dict[str, Any]]


def main(arguments: list[str]) -> int:
    """Measure, write the results, and return 1 if any request failed."""
    parser = argparse.ArgumentParser(prog="bench.py")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS])
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"machine": report.machine(), "quick": given.quick, "seconds": {}}
    if given.parts and not given.quick:  # the other parts stay as they were measured
        kept = report.read("bench") or {}
        found = kept | found | {"seconds": kept.get("seconds", {})}
    for part, measure in parts(quick=given.quick).items():
        if part in (given.parts or PARTS):
            run(part, measure, found)
    if not given.quick:
        report.write("bench", found, bench_text.text(found))
    print(bench_text.text(found))
    return int(any(bench_text.failures(found).values()))


def run(part: str, measure: Measure, found: dict[str, Any]) -> None:
    print(f"{part} ...", flush=True)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix=f"bench-{part}-") as name:
        found[part] = measure(Path(name))
    found["seconds"][part] = round(time.perf_counter() - started, 1)


def parts(*, quick: bool) -> dict[str, Measure]:
    """Return how to measure each part, in the sizes that together take a few minutes."""
    if quick:
        return {
            "models": lambda where: against_models.measure(where, 8, 32, CORES),
            "recall": lambda where: recall.measure(where, 4, 4),
            "sqlite": lambda where: against_sqlite.measure(where, 16, CORES),
            "peers": lambda where: against_peers.measure(where, 5, (60, 200)),
        }
    return {
        "models": lambda where: against_models.measure(where, 80, 480, CORES),
        "recall": lambda where: recall.measure(where, 300, 60),
        "sqlite": lambda where: against_sqlite.measure(where, 256, CORES),
        "peers": lambda where: against_peers.measure(where, 50),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

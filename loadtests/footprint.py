"""How soon the service is there, how much memory it holds when idle, and what holds it.

Usage: python loadtests/footprint.py [--starts 5]

Starts the server several times on an empty store and takes the time to ``/health`` and ``/ready``;
once more with no derived model graph at hand, as on the very first start. Then one process loads
the parts of the service one after another and looks at its own memory after each. Writes
``results/footprint.json`` and ``footprint.md``. Exits with 1 if the target is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import report
from report import conditions, spread, table
from serving import Served, environment, free_port, ready, spawn, stop, tail, wait

TARGET_MB = 700
IDLE_SECONDS = 5


def main(arguments: list[str]) -> int:
    """Measure, write the results, and return 1 if the target is missed."""
    parser = argparse.ArgumentParser(prog="footprint.py")
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"machine": report.machine(), "target_mb": TARGET_MB}
    with tempfile.TemporaryDirectory(prefix="footprint-") as name:
        folder = Path(name)
        first = start(folder / "first", MODELS__DIR=folder / "first" / "models")
        found["very_first_start"] = first
        starts = [start(folder / f"start{n}") for n in range(given.starts)]
        for key in ("health_s", "ready_s"):
            found[key] = spread([s[key] for s in starts])
        found["idle_mb"] = spread([s["idle_mb"] for s in starts])
        found["idle_detail_mb"] = starts[-1]["detail_mb"]
        found["parts"] = parts(folder / "parts")
    found["good"] = found["idle_mb"]["p50"] < TARGET_MB
    report.write("footprint", found, text(found))
    print(text(found))
    return int(not found["good"])


def start(folder: Path, **settings: object) -> dict[str, Any]:
    """Start a server, stop it again, and return when it answered and what it held."""
    folder.mkdir(parents=True)
    port = free_port()
    begun = time.perf_counter()
    process = spawn(folder, port, **settings)
    served = Served(f"http://127.0.0.1:{port}", port, process, folder / "server.log")
    try:
        with served.client() as http:
            health = until(lambda: answers(http), process, served.log) - begun
            there = until(lambda: ready(http), process, served.log) - begun
        wait(served)
        time.sleep(IDLE_SECONDS)
        return {
            "health_s": round(health, 3),
            "ready_s": round(there, 3),
            "idle_mb": round(served.resident_mb, 1),
            "detail_mb": detail(process.pid),
        }
    finally:
        stop(process)


def answers(http: httpx.Client) -> bool:
    try:
        return http.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def until(true: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> float:
    while not true():
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped:\n{tail(log)}")
        time.sleep(0.01)
    return time.perf_counter()


def detail(pid: int) -> dict[str, float]:
    """What kinds of memory it is: own pages, pages of files, and those it has to itself."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss", "Anonymous", "Private_Clean", "Private_Dirty"):
            found[name.lower()] = round(int(rest.split()[0]) * 1024 / 1e6, 1)
    return found


def parts(folder: Path) -> list[dict[str, Any]]:
    """Load the parts in a fresh process that looks at itself."""
    folder.mkdir()
    script = Path(__file__).with_name("footprint_parts.py")
    done = subprocess.run(
        [sys.executable, script],
        env=environment(folder, free_port()),
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def text(found: dict[str, Any]) -> str:
    """Return the report."""
    first = found["very_first_start"]
    starts = [
        ["/health answers", found["health_s"]["p50"], found["health_s"]["max"], first["health_s"]],
        ["/ready says yes", found["ready_s"]["p50"], found["ready_s"]["max"], first["ready_s"]],
    ]
    before, rows = 0.0, []
    for part in found["parts"]:
        rows.append([part["part"], part["mb"] - before, part["mb"], part["seconds"]])
        before = part["mb"]
    idle = found["idle_mb"]["p50"]
    met = "met" if found["good"] else "**missed**"
    kinds = found["idle_detail_mb"]
    return "\n\n".join(
        [
            "# Footprint",
            conditions(found["machine"]),
            table(["seconds until", "median", "slowest", "very first start"], starts),
            "The very first start derives the graph of the entailment model, which is kept.",
            f"Idle service: {idle:.0f} MB resident (target under {found['target_mb']}: {met}), of "
            f"which {kinds['anonymous']:.0f} MB are its own pages and the rest are files mapped "
            "into memory.",
            "What one process holds as it loads the parts in this order:",
            table(["part", "adds MB", "then MB", "takes s"], rows),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

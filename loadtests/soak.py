"""A steady rate for a long time: no errors, no growth of memory, and everything still in step.

Usage: python loadtests/soak.py [--minutes 30] [--rate 8]

Requests are sent at fixed moments whatever became of the earlier ones, and their time counts from
the moment at which they were due. First the caches are filled, so that what fills them is not taken
for growth. At the end the log is verified, the index has to be in step, and every memory has to
match its turn and its entry. Writes ``results/soak.json``, ``soak.md`` and ``soak.png``. Exits
with 1 if a request failed, memory grew, or anything was out of step.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import load
import report
from client import Connection, drive
from report import conditions, spread, table
from said import Fact, Talk
from serving import Served, disk_mb, serving

SETTLING = 5.0  # minutes after which memory must not grow
SAMPLE_SECONDS = 5.0
WORKERS = 48
FILLING, FILLERS = 3_000, 8
HOURLY_SHARE = 0.02
PATHS = {"recall": "/recall", "message": "/memory", "check": "/check"}
MIX = ("recall",) * 7 + ("message",) * 2 + ("check",)
Due = tuple[float, str, dict[str, Any]]


@dataclass(slots=True)
class Seen:
    """What was measured while it ran; times are seconds since the start."""

    done: list[tuple[float, str, float, int]] = field(default_factory=list)
    samples: list[tuple[float, float]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, at: float, kind: str, took: float, status: int) -> None:
        with self.lock:
            self.done.append((at, kind, took, status))


def main(arguments: list[str]) -> int:
    """Run, write the results, and return 1 if anything was not as it has to be."""
    parser = argparse.ArgumentParser(prog="soak.py")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=8, help="Requests per second.")
    parser.add_argument("--fill", type=int, default=FILLING)
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"machine": report.machine(), "rate": given.rate}
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        users = load.seed(folder, load.PEOPLE)
        talk = Talk(31)
        with serving(folder) as served:
            fill(served, talk, given.fill)
            seen = run(served, requests(users, talk), given.minutes, given.rate)
            found |= measured(seen, given.minutes)
            found |= in_step(served, list(users))
            found["disk_mb"] = round(disk_mb(folder / "data"), 1)
    found["good"] = good(found)
    report.write("soak", found, text(found))
    report.draw("soak")
    print(text(found))
    return int(not found["good"])


def fill(served: Served, talk: Talk, checks: int) -> None:
    bodies = [talk.check() | {"record": False} for _ in range(checks)]
    drive(served.port, "/check", bodies, clients=FILLERS)


def requests(users: dict[str, list[Fact]], talk: Talk) -> Iterator[tuple[str, dict[str, Any]]]:
    """Go on for ever with the mix of a chat backend."""
    names = list(users)
    openings = ("", "Tell me: ", "Quick question. ", "Say, ", "One more: ")
    questions = (
        {"user_id": user, "query": f"{opening}{question}"}
        for opening in itertools.cycle(openings)
        for n in range(load.EACH)
        for user in names
        for question in users[user][n].questions
    )
    for n, kind in enumerate(itertools.cycle(MIX)):
        if kind == "recall":
            yield kind, next(questions)
        elif kind == "message":
            yield kind, {"user_id": names[n % len(names)], "message": talk.message(n % 3)}
        else:
            yield kind, talk.check()


def run(
    served: Served, bodies: Iterator[tuple[str, dict[str, Any]]], minutes: float, rate: float
) -> Seen:
    """Send at the rate, and look at the memory meanwhile."""
    seen, due = Seen(), SimpleQueue[Due | None]()
    started = time.perf_counter()
    workers = [
        threading.Thread(target=work, args=(served.port, started, due, seen))
        for _ in range(WORKERS)
    ]
    stopped = threading.Event()
    watch = threading.Thread(target=watching, args=(served, started, stopped, seen))
    for thread in (*workers, watch):
        thread.start()
    for n in range(int(minutes * 60 * rate)):
        at = n / rate
        time.sleep(max(0.0, at - (time.perf_counter() - started)))
        due.put((at, *next(bodies)))
    for _ in workers:
        due.put(None)
    for thread in workers:
        thread.join()
    stopped.set()
    watch.join()
    return seen


def work(port: int, started: float, due: SimpleQueue[Due | None], seen: Seen) -> None:
    connection = Connection(port)
    while (item := due.get()) is not None:
        at, kind, body = item
        status, answer = connection.ask("POST", PATHS[kind], body)
        if not 200 <= status < 300:
            seen.refused.append(f"{kind}: {status} {answer[:300].decode(errors='replace')}")
        seen.note(at, kind, (time.perf_counter() - started - at) * 1000, status)
    connection.close()


def watching(served: Served, started: float, stopped: threading.Event, seen: Seen) -> None:
    while not stopped.wait(SAMPLE_SECONDS):
        moment = round(time.perf_counter() - started, 1)
        seen.samples.append((moment, round(served.resident_mb, 2)))


def measured(seen: Seen, minutes: float) -> dict[str, Any]:
    """Return times by kind and by minute, failures, and what memory did."""
    failed = [d for d in seen.done if not 200 <= d[3] < 300]
    by_minute = [
        {"minute": m, **spread([d[2] for d in seen.done if int(d[0] // 60) == m])}
        for m in range(math.ceil(minutes))
    ]
    settling = min(SETTLING, minutes / 2)
    return {
        "minutes_asked": minutes,
        "settling_minutes": settling,
        "requests": len(seen.done),
        "failed": len(failed),
        "refused": seen.refused[:5],
        "times_ms": {kind: spread([d[2] for d in seen.done if d[1] == kind]) for kind in PATHS},
        "minutes": by_minute,
        "samples": seen.samples,
        "memory": memory([(at / 60, mb) for at, mb in seen.samples if at / 60 >= settling]),
    }


def memory(samples: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Fit a line through the means of the minutes: MB per hour, with what 95% of chance allow."""
    by_minute: dict[int, list[float]] = {}
    for minute, mb in samples:
        by_minute.setdefault(int(minute), []).append(mb)
    minutes = sorted(by_minute)
    means = [statistics.fmean(by_minute[m]) for m in minutes]
    if len(minutes) < 3:
        return {"mean_mb": round(statistics.fmean(mb for _, mb in samples), 1), "minutes": 0}
    slope, intercept = statistics.linear_regression(minutes, means)
    rest = [mb - slope * m - intercept for m, mb in zip(minutes, means, strict=True)]
    spread_of_minutes = sum((m - statistics.fmean(minutes)) ** 2 for m in minutes)
    error = math.sqrt(sum(r * r for r in rest) / (len(minutes) - 2) / spread_of_minutes)
    margin = 60 * error * (2.1 if len(minutes) > 15 else 3.2)  # about Student's t at 95%
    return {
        "mean_mb": round(statistics.fmean(means), 1),
        "first_mb": round(means[0], 1),
        "last_mb": round(means[-1], 1),
        "minutes": len(minutes),
        "mb_per_hour": round(60 * slope, 2),
        "margin_mb_per_hour": round(margin, 2),
    }


def in_step(served: Served, users: Sequence[str]) -> dict[str, Any]:
    """Ask the service to check itself."""
    connection = Connection(served.port)
    until = time.monotonic() + 120
    while True:
        status, ready = connection.get("/ready")
        index = next(c["detail"] for c in ready["components"] if c["name"] == "index")
        lag = int(re.search(r"lag (\d+)", index)[1])
        if lag == 0 or time.monotonic() > until:
            break
        time.sleep(1)
    verified = connection.get("/audit/verify")[1]
    drift = [connection.get(f"/memories/drift?user_id={user}")[1] for user in users]
    connection.close()
    return {
        "ready": status == 200,
        "index": index,
        "index_lag": lag,
        "chain_ok": verified["ok"],
        "chain_entries": verified["total"],
        "drift": sorted({d["status"] for d in drift}),
        "memories": sum(sum(d["counts"].values()) for d in drift),
    }


def grew(memory_found: dict[str, Any]) -> bool:
    """Tell whether memory grew for sure, and by more than a fiftieth an hour."""
    if not memory_found["minutes"]:
        return False
    least = memory_found["mb_per_hour"] - memory_found["margin_mb_per_hour"]
    return least > 0 and memory_found["mb_per_hour"] > HOURLY_SHARE * memory_found["mean_mb"]


def good(found: dict[str, Any]) -> bool:
    return bool(
        found["failed"] == 0
        and not grew(found["memory"])
        and found["ready"]
        and found["index_lag"] == 0
        and found["chain_ok"]
        and found["drift"] == ["MATCH"]
    )


def text(found: dict[str, Any]) -> str:
    """Return the report."""
    held = found["memory"]
    line = f"{held['mean_mb']} MB on average after {found['settling_minutes']:g} minutes"
    if held["minutes"]:
        line += (
            f", from {held['first_mb']} to {held['last_mb']}: {held['mb_per_hour']} "
            f"± {held['margin_mb_per_hour']} MB per hour"
        )
    rows = [
        [kind, t["count"], t["p50"], t["p95"], t["p99"], t["max"]]
        for kind, t in found["times_ms"].items()
    ]
    checks = [
        ["requests that failed", found["failed"], found["failed"] == 0],
        ["memory", line, not grew(held)],
        ["log verifies", f"{found['chain_entries']:,} entries", found["chain_ok"]],
        ["index in step", found["index"], found["ready"] and found["index_lag"] == 0],
        ["memories match", f"{found['memories']:,}", found["drift"] == ["MATCH"]],
    ]
    return "\n\n".join(
        [
            "# Soak",
            f"{conditions(found['machine'])} {found['minutes_asked']:g} minutes at "
            f"{found['rate']:g} requests/s: 70% recall, 20% messages, 10% check. Times count from "
            "the moment at which a request was due.",
            table(["request", "count", "p50 ms", "p95 ms", "p99 ms", "max ms"], rows),
            table(["check", "found", "good"], checks),
            *found["refused"],
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

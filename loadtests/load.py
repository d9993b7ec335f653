"""Real load on a server of its own: three kinds of client, few of them and many.

Usage: python loadtests/load.py [--seconds 25] [--clients 4 32]

Seeds a scratch store, starts the server on a free port, lets locust run each scenario without a
screen, then compares one client with 32 as ``parallel.py`` does. Writes ``results/load.json``,
``load.md`` and ``load.png``. Exits with 1 if a request failed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import parallel
import report
from recall_data import Seeder
from report import conditions, table
from said import Fact, Talk, facts
from serving import Served, models_dir, serving

from service.adapters.onnx.loading import ModelSettings, entry_for, load_embedder

SCENARIOS = ("ChatBackend", "CheckHeavy", "BatchImport")
TITLES = {
    "ChatBackend": "chat backend (70% recall, 20% messages, 10% check)",
    "CheckHeavy": "checks only",
    "BatchImport": "batch import",
}
LOCUST = report.ROOT.parent / ".venv-load" / "bin" / "locust"
PEOPLE, EACH = 40, 100
BATCH, PARALLEL_CHECKS = 16, 192
KINDS = {"question": 12_000, "check": 12_000, "message": 6_000, "conversation": 2_000}
BATCHES, STRUCTURED = 900, 4_000


def main(arguments: list[str]) -> int:
    """Measure, write the results, and return 1 if any request failed."""
    parser = argparse.ArgumentParser(prog="load.py")
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--clients", type=int, nargs="+", default=[4, 32])
    parser.add_argument("--people", type=int, default=PEOPLE)
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"machine": report.machine(), "seconds": given.seconds, "runs": []}
    found["people"] = given.people
    with tempfile.TemporaryDirectory(prefix="load-") as name:
        folder = Path(name)
        users = seed(folder, given.people)
        write_stock(folder / "said.json", users)
        runs = list(itertools.product(SCENARIOS, given.clients))
        with serving(folder) as served:
            for n, (scenario, clients) in enumerate(runs):
                share = n / len(runs)  # nothing is sent again that an earlier run sent
                run = locust(folder, served, (scenario, clients, given.seconds), share)
                found["runs"].append({"scenario": scenario, "clients": clients, **run})
            found["parallel"] = parallel.measure(served.url, PARALLEL_CHECKS)
            found["resident_mb"] = round(served.resident_mb, 1)
    report.write("load", found, text(found))
    report.draw("load")
    print(text(found))
    return int(failed(found) > 0)


def seed(folder: Path, people: int) -> dict[str, list[Fact]]:
    """Give every user some facts; return who was told what."""
    stock = facts(people * EACH)
    embedder = load_embedder(entry_for("embedder", None), ModelSettings(models_dir()))
    spoken = [f.spoken for f in stock]
    vectors = embedder.embed([s.text for s in spoken])
    found = {}
    for n in range(people):
        mine = slice(n * EACH, (n + 1) * EACH)
        found[f"user{n}"] = stock[mine]
    seeder = Seeder(folder, spoken, vectors, embedder.identity.digest)
    for n, user in enumerate(found):
        seeder.user(user, EACH, start=n * EACH)
    seeder.close()
    embedder.close()
    return found


def write_stock(path: Path, users: dict[str, list[Fact]]) -> None:
    """Write the requests that locust sends, so that no text is sent twice."""
    talk = Talk(23)
    names = list(users)
    questions = [
        {"user_id": user, "query": f"{opening}{question}"}
        for opening in ("", "Tell me: ", "Quick question. ")
        for question_at in (0, 1)
        for n in range(EACH)
        for user in names
        for question in (users[user][n].questions[question_at],)
    ]
    stock = {
        "question": questions[: KINDS["question"]],
        "check": [talk.check() for _ in range(KINDS["check"])],
        "message": [
            {"user_id": names[n % len(names)], "message": talk.message(n % 3)}
            for n in range(KINDS["message"])
        ],
        "conversation": [conversation(talk) for _ in range(KINDS["conversation"])],
        "batch": [{"items": [talk.check() for _ in range(BATCH)]} for _ in range(BATCHES)],
        "structured": [talk.structured(f"new{n // 50}") for n in range(STRUCTURED)],
    }
    path.write_text(json.dumps(stock), encoding="utf-8")


def conversation(talk: Talk) -> dict[str, Any]:
    """A check against several turns instead of one source."""
    fact = talk.fact()
    turns = [
        {"role": "user", "content": talk.message(1)},
        {"role": "assistant", "content": "Noted. Anything else?"},
        {"role": "user", "content": fact.said},
    ]
    return {"messages": turns, "fact": fact.text}


def locust(
    folder: Path, served: Served, what: tuple[str, int, int], share: float
) -> dict[str, Any]:
    """Run one scenario with so many clients for so many seconds; return what locust measured."""
    scenario, clients, seconds = what
    print(f"{scenario}, {clients} clients ...", flush=True)
    out = folder / "locust.json"
    given = {"LOAD_SAID": folder / "said.json", "LOAD_OUT": out, "LOAD_SHARE": share}
    env = os.environ | {name: str(value) for name, value in given.items()}
    command = [LOCUST, "-f", report.ROOT / "locustfile.py", scenario, "--headless"]
    command += ["--host", served.url, "--users", str(clients), "--spawn-rate", str(clients)]
    command += ["--run-time", f"{seconds}s", "--stop-timeout", "30", "--only-summary"]
    command += ["--reset-stats", "--exit-code-on-error", "0", "--loglevel", "ERROR"]
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"locust failed:\n{done.stderr}")
    found = json.loads(out.read_text(encoding="utf-8"))
    if not total(found)["requests"]:
        raise RuntimeError(f"locust sent nothing:\n{done.stderr}")
    return found


def failed(found: dict[str, Any]) -> int:
    """How many requests failed in all."""
    runs = sum(total(run)["failures"] for run in found["runs"])
    return runs + found["parallel"]["failed"]


def total(run: dict[str, Any]) -> dict[str, Any]:
    return run["entries"][-1]


def text(found: dict[str, Any]) -> str:
    """Return the report."""
    return "\n\n".join(
        [
            "# Load",
            f"{conditions(found['machine'])} {found['seconds']} s per run. Clients send the next "
            "request as soon as one is answered, so latency is that of a server kept busy; they "
            f"share its cores. {found['people']} users have {EACH} facts each, and in so small a "
            "store every recall asks the entailment model. No text is sent twice. A batch is one "
            f"request with {BATCH} facts. Locust rounds percentiles to two digits.",
            table(
                ["scenario", "clients", "requests", "errors", "requests/s", *HEADS],
                [row(run, total(run), TITLES[run["scenario"]]) for run in found["runs"]],
            ),
            "## By request",
            table(
                ["scenario: request", "clients", "requests", "errors", "requests/s", *HEADS],
                [
                    row(run, e, f"{TITLES[run['scenario']].partition(' (')[0]}: {e['name']}")
                    for run in found["runs"]
                    for e in run["entries"][:-1]
                ],
            ),
            "## One client beside many",
            parallel.text(found["parallel"]),
            f"Resident memory of the server at the end: {found['resident_mb']} MB.",
            *errors(found["runs"]),
        ]
    )


HEADS = ("p50 ms", "p90 ms", "p95 ms", "p99 ms", "max ms")


def row(run: dict[str, Any], entry: dict[str, Any], name: str) -> Sequence[object]:
    at = entry["percentiles_ms"]
    shares = [float(at[share]) for share in ("50", "90", "95", "99")]
    counts = [run["clients"], entry["requests"], entry["failures"], entry["per_second"]]
    return [name, *counts, *shares, float(entry["max_ms"])]


def errors(runs: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{run['scenario']}, {run['clients']}: {e}" for run in runs for e in run["errors"]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

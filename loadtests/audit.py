"""The audit log: what it adds to a write, how fast it is verified, and how fast a proof is made.

Usage: python loadtests/audit.py [--quick]

One run on one machine. The same structured writes (one fact of a new user each) run with and
without the append to the log, one by one in turns on two stores: the bare write transaction; the
whole use case while the models remember their answers; and over HTTP with the models at work, where
the time without the log is what is left when the cost of the bare transaction is taken away. Times
are medians. Both sides flush to disk once per write and have all other rows. Logs to verify are
written by the storage layer; texts are encrypted as they are in the service. Writes
``results/audit.json`` and ``audit.md``; ``--quick`` only shows that it works.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import report
from against_sqlite import Passes, body, command, database_of, learned
from client import Outcome, drive
from said import facts
from serving import serving

from service import bootstrap
from service.adapters.db.audit import SqlAudit
from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.adapters.verifying import Known, verify_database
from service.audit.commitment import commit, new_salt
from service.bootstrap import Container
from service.ports.storage import Appended, Body, EntryDraft, Scope, Transaction
from service.settings import Settings
from service.usecases.read_audit import ReadAudit
from service.usecases.remember import RememberCommand

SCOPE = Scope("default", "local")
GROUP, WARM = 1_000, 8
TARGETS = {"overhead": 15.0, "verify": 20_000, "proof_ms": 5.0}
TEXT = "I moved to Lyon in March and work as a nurse in the children's hospital there."


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything."""

    writes: int
    turns: int
    verified: int
    proven: int
    proofs: int


FULL = Sizes(writes=200, turns=3, verified=100_000, proven=200_000, proofs=1_000)
QUICK = Sizes(writes=8, turns=1, verified=2_000, proven=4_000, proofs=50)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return 1 if a request or a verification failed."""
    quick = "--quick" in arguments
    sizes = QUICK if quick else FULL
    bootstrap.start_logging(Settings(_env_file=None, log_level="error"))
    started = time.perf_counter()
    found: dict[str, Any] = {"machine": report.machine(), "quick": quick}
    with tempfile.TemporaryDirectory(prefix="audit-bench-") as name:
        found["append"] = appending(Path(name) / "writes", sizes)
        found["log"] = reading(Path(name) / "logs", sizes)
    found["seconds"] = round(time.perf_counter() - started, 1)
    if not quick:
        report.write("audit", found, text(found))
    print(text(found))
    return int(found["append"]["failed"] > 0)


def appending(folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Return milliseconds per write with and without the log, one client at a time."""
    commands = [command(n, fact) for n, fact in enumerate(facts(sizes.writes))]
    times: dict[tuple[str, bool], list[float]] = {}
    with ExitStack() as stack:
        passes = Passes(folder, stack)
        closures = learned(passes, commands)
        for turn in range(sizes.turns):
            for kind, calls in (("transaction", transactions(closures)), ("case", cases(commands))):
                found = side_by_side(passes, f"{kind}{turn}", calls)
                for logged, each in found.items():
                    times.setdefault((kind, logged), []).extend(each)
    outcome = over_http(folder / "http", commands)
    middle = {key: statistics.median(values) for key, values in times.items()}
    cost = middle["transaction", True] - middle["transaction", False]
    whole = statistics.median(outcome.times)
    rows = {
        "bare write transaction": (middle["transaction", True], middle["transaction", False]),
        "use case, models remembering": (middle["case", True], middle["case", False]),
        "over HTTP, models included": (whole, whole - cost),
    }
    return {"failed": outcome.failed, "ms": rows}


Call = Callable[[Container], object]


def transactions(closures: Sequence[Callable[[Any], Any]]) -> list[Call]:
    """Return the bare write transactions, as calls on a store."""
    return [lambda one, work=work: database_of(one).write(SCOPE, work) for work in closures]


def cases(commands: Sequence[RememberCommand]) -> list[Call]:
    """Return the whole use case of each write, as calls on a store."""
    return [lambda one, given=given: one.services.remember.run(SCOPE, given) for given in commands]


def side_by_side(passes: Passes, name: str, calls: Sequence[Call]) -> dict[bool, list[float]]:
    """Run each call on a store with a log and on one without, in turns; milliseconds of each."""
    times: dict[bool, list[float]] = {True: [], False: []}
    with passes.store(f"{name}-logged") as logged, passes.store(f"{name}-bare") as bare:
        for number, call in enumerate(calls):
            for has_log in (True, False) if number % 2 else (False, True):
                with log_of(one=has_log):
                    started = time.perf_counter()
                    call(logged if has_log else bare)
                    times[has_log].append(1_000 * (time.perf_counter() - started))
    return times


def over_http(folder: Path, commands: Sequence[RememberCommand]) -> Outcome:
    """Send the same facts one by one to a server whose models have not seen them."""
    last = facts(len(commands) + WARM)[-WARM:]
    warm = [body(command(n, fact)) | {"user_id": "warm"} for n, fact in enumerate(last)]
    with serving(folder) as served:
        drive(served.port, "/memory", warm)
        return drive(served.port, "/memory", [body(given) for given in commands])


@contextmanager
def log_of(*, one: bool) -> Iterator[None]:
    """Let appends do nothing for a while, unless there is to be a log."""
    real = SqlAudit.append

    def nothing(_self: SqlAudit, _draft: EntryDraft, _bodies: Any) -> Appended:
        return Appended(0, "0" * 64, datetime.now(UTC))

    if not one:
        SqlAudit.append = nothing
    try:
        yield
    finally:
        SqlAudit.append = real


def reading(folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Return entries verified per second, with texts and without, and the times of proofs."""
    found: dict[str, Any] = {}
    for name, entries in (("with texts", sizes.verified), ("without texts", sizes.proven)):
        where = folder / name.replace(" ", "-")
        database = open_log(where)
        started = time.perf_counter()
        grow(database, sizes.verified, texts=name == "with texts")
        found[f"appended per second {name}"] = sizes.verified / (time.perf_counter() - started)
        database.close()
        found[f"verified per second {name}"] = verified(where)
        if entries > sizes.verified:
            database = open_log(where)
            grow(database, entries - sizes.verified, texts=False)
            found["proof_ms"] = report.spread(proofs(database, sizes))
            database.close()
    return found


def open_log(where: Path) -> SqlDatabase:
    return open_database(
        where / "data" / "log.db",
        clock=SystemClock(),
        identifiers=RandomIdentifiers(),
        open_keys=partial(open_subject_keys, where / "keys"),
    )


def grow(database: SqlDatabase, entries: int, *, texts: bool) -> None:
    """Append entries of decisions, many per commit."""

    def work(tx: Transaction, count: int) -> None:
        subject = tx.subjects.id_for("ann") if texts else None
        for _ in range(count):
            bodies = {name: Body(new_salt(), TEXT) for name in ("fact", "source")}
            commitments = {n: commit(b.salt, b.text.encode()) for n, b in bodies.items()}
            draft = EntryDraft(
                kind="index.rebuilt", actor=SCOPE.actor, subject=subject, commitments=commitments
            )
            tx.audit.append(draft, bodies if texts else {})

    for start in range(0, entries, GROUP):
        database.write(SCOPE, partial(work, count=min(GROUP, entries - start)))


def verified(where: Path) -> float:
    """Return the entries per second of a whole verification, the file's own check included."""
    known = Known(text_keys=where / "keys")
    started = time.perf_counter()
    result = verify_database(where / "data" / "log.db", known)
    seconds = time.perf_counter() - started
    if not result.ok:
        raise RuntimeError(f"the log does not verify: {result.reason}")
    return result.total / seconds


def proofs(database: SqlDatabase, sizes: Sizes) -> list[float]:
    """Return the milliseconds of inclusion proofs of entries anywhere in the log."""
    audit = ReadAudit(database=database)
    times = []
    for _ in range(sizes.proofs):
        seq = random.randrange(1, sizes.proven)
        started = time.perf_counter()
        audit.proof(SCOPE, seq)
        times.append(1_000 * (time.perf_counter() - started))
    return times


def text(found: dict[str, Any]) -> str:
    """The tables, in Markdown."""
    machine = found["machine"]
    writes = [
        (way, logged, bare, f"{100 * (logged - bare) / bare:.1f}%")
        for way, (logged, bare) in found["append"]["ms"].items()
    ]
    log = found["log"]
    reads = [(name, value, _target(name)) for name, value in log.items() if name != "proof_ms"]
    proof = log["proof_ms"]
    reads += [(f"inclusion proof, ms, {p}", proof[p], _target("proof")) for p in ("p50", "p99")]
    return "\n\n".join(
        (
            "# What the audit log costs",
            f"{machine['cores']} cores, Python {machine['python']}, load {machine['load_at_start']}"
            f" at the start, {machine['date']}.",
            report.table(("One write at a time", "ms", "ms without the log", "added"), writes),
            f"Target: under {TARGETS['overhead']:.0f}% of a structured write.",
            report.table(("The log", "figure", "target"), reads),
        )
    )


def _target(name: str) -> str:
    if name.startswith("verified"):
        return f"at least {TARGETS['verify']:,}"
    return f"under {TARGETS['proof_ms']:.0f}" if name == "proof" else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

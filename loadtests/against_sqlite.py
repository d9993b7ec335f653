"""Structured writes with their audit entries against the same rows in bare SQLite.

One new user per write, so that no write waits for another. The models have answered every question
once before the timed passes, so that what they remember takes no time; the pass over HTTP starts
with an empty memory. The bare pass replays the very statements that changed rows, in the same
groups per commit, on the same schema with the same driver and pragmas.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from against_models import Together, Work, noted_sessions
from client import drive
from report import percentile
from said import Fact, facts
from serving import models_dir, serving
from sqlalchemy import Engine, event

from service import bootstrap
from service.adapters.db import prepared
from service.adapters.db.database import SqlDatabase
from service.adapters.db.engine import choose_driver, writer_engine
from service.adapters.language.analyser import EnglishAnalyser
from service.adapters.onnx.loading import ModelSettings, load_models
from service.bootstrap import Container, Parts
from service.domain.memory import Triple
from service.ports.storage import Scope
from service.settings import Models, Settings
from service.usecases.intake import Claimed
from service.usecases.remember import RememberCommand

CLIENTS = 32
SCOPE = Scope("default", "local")
CHANGING = ("INSERT", "UPDATE", "DELETE", "REPLACE")
Closure = Callable[[Any], Any]


@dataclass(slots=True)
class Statements:
    """What the writing thread sent that changed rows, commit by commit."""

    groups: list[list[tuple[str, Any, bool]]] = field(default_factory=list)
    open: list[tuple[str, Any, bool]] = field(default_factory=list)

    def sent(
        self, _c: Any, _cursor: Any, statement: str, parameters: Any, _x: Any, many: bool
    ) -> None:
        writing = threading.current_thread().name == "database-writer"
        if writing and statement.lstrip().upper().startswith(CHANGING):
            self.open.append((statement, parameters, many))

    def committed(self, _connection: Any) -> None:
        if threading.current_thread().name == "database-writer":
            if self.open:
                self.groups.append(self.open)
            self.open = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        real = prepared.execute

        def noted(connection: Any, text: str, values: Any, *, many: bool = False) -> Any:
            self.sent(None, None, text, values, None, many)
            return real(connection, text, values, many=many)

        event.listen(Engine, "before_cursor_execute", self.sent)
        event.listen(Engine, "commit", self.committed)
        prepared.execute = noted  # these statements go past the engine's events
        try:
            yield
        finally:
            prepared.execute = real
            event.remove(Engine, "before_cursor_execute", self.sent)
            event.remove(Engine, "commit", self.committed)

    @property
    def rows(self) -> int:
        return sum(len(p) if many else 1 for g in self.groups for _, p, many in g)


class Passes:
    """Opens a fresh store for each pass; all share the same models and what they remember."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        with noted_sessions() as self.sessions:
            models = load_models(ModelSettings(models_dir()))
        stack.callback(models.close)
        language = EnglishAnalyser()
        stack.callback(language.close)
        self._parts = Parts(
            nli=lambda: Kept(models.nli),
            embedder=lambda: Kept(models.embedder),
            language=lambda: Kept(language),
        )

    def settings(self, name: str) -> Settings:
        where = self._folder / name
        return Settings(
            _env_file=None,
            data_dir=where / "data",
            key_dir=where / "keys",
            origin="bench/writes",
            log_level="error",
            models=Models(dir=models_dir()),
        )

    @contextmanager
    def store(self, name: str) -> Iterator[Container]:
        container = bootstrap.build(self.settings(name), self._parts)
        container.loader.start()
        container.loader.wait()
        try:
            yield container
        finally:
            container.close()


class Kept:
    """A model that outlives the store which closes it."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def close(self) -> None:
        """Stay open for the next pass."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def measure(folder: Path, writes: int, cores: int) -> dict[str, Any]:
    """Return writes per second of every way, and their ratios."""
    bootstrap.start_logging(Settings(_env_file=None, log_level="error"))
    commands = [command(n, fact) for n, fact in enumerate(facts(writes))]
    with ExitStack() as stack:
        passes = Passes(folder, stack)
        closures = learned(passes, commands)
        model_seconds = Together([whole(passes)], cores).seconds()
        found = {}
        for clients in (1, CLIENTS):
            name = str(clients)
            with passes.store(f"case{name}") as one:
                run = one.services.remember.run
                case = spread_over(clients, [partial(run, SCOPE, c) for c in commands])
            with passes.store(f"storage{name}") as one:
                write = database_of(one).write
                storage = spread_over(clients, [partial(write, SCOPE, w) for w in closures])
            found[name] = {"case": case, "storage": storage, **raw(passes, closures, clients)}
        http = over_http(folder / "http", commands)
    return figures(writes, found, model_seconds, http)


def learned(passes: Passes, commands: Sequence[RememberCommand]) -> list[Closure]:
    """Ask the models everything once; return what each command wrote as a closure."""
    kept: list[Closure] = []
    real = SqlDatabase.write

    def noted(self: SqlDatabase, scope: Scope, work: Closure) -> Any:
        if scope == SCOPE:
            kept.append(work)
        return real(self, scope, work)

    with passes.store("learn") as one:
        SqlDatabase.write = noted
        try:
            for given in commands:
                one.services.remember.run(SCOPE, given)
        finally:
            SqlDatabase.write = real
    return kept


def whole(passes: Passes) -> Work:
    """Everything that reached the models, as one piece of work."""
    return Work({}, [(s, feeds) for s in passes.sessions for feeds in s.take()], [])


def raw(passes: Passes, closures: Sequence[Closure], clients: int) -> dict[str, Any]:
    """Note the statements of one pass, and replay them on a fresh store without our code."""
    noted = Statements()
    with passes.store(f"noted{clients}") as one, noted.listening():
        write = database_of(one).write
        spread_over(clients, [partial(write, SCOPE, w) for w in closures])
    name = f"raw{clients}"
    with passes.store(name):
        pass
    path = passes.settings(name).data_dir / bootstrap.DATABASE_NAME
    engine = writer_engine(path, choose_driver(), busy_timeout=5)
    connection = engine.raw_connection()
    started = time.perf_counter()
    replay(connection.cursor(), noted.groups)
    seconds = time.perf_counter() - started
    connection.close()
    engine.dispose()
    return {"raw": seconds, "commits": len(noted.groups), "rows": noted.rows}


def replay(cursor: Any, groups: Sequence[Sequence[tuple[str, Any, bool]]]) -> None:
    for group in groups:
        cursor.execute("BEGIN IMMEDIATE")
        for statement, parameters, many in group:
            if many:
                cursor.executemany(statement, parameters)
            else:
                cursor.execute(statement, parameters)
        cursor.execute("COMMIT")


def over_http(folder: Path, commands: Sequence[RememberCommand]) -> dict[str, Any]:
    """Send the same facts to a server that has not seen them."""
    bodies = [body(c) for c in commands]
    with serving(folder) as served:
        warm = [body(command(n, f)) for n, f in enumerate(facts(len(bodies) + 8)[-8:])]
        drive(served.port, "/memory", [b | {"user_id": "warm"} for b in warm])
        outcome = drive(served.port, "/memory", bodies, clients=CLIENTS, keep=status)
    written = sum(s in ("created", "superseded", "confirmed") for s in outcome.answers)
    return {
        "seconds": outcome.seconds,
        "failed": outcome.failed,
        "written": written,
        "p50_ms": percentile(sorted(outcome.times), 50),
    }


def status(answer: dict[str, Any]) -> str:
    return answer["status"]


def figures(
    writes: int, found: dict[str, dict[str, Any]], models: float, http: dict[str, Any]
) -> dict[str, Any]:
    many = found[str(CLIENTS)]
    return {
        "writes": writes,
        "failed": http["failed"],
        "written_over_http": http["written"],
        "clients": {
            name: {
                "rows_per_write": round(f["rows"] / writes, 2),
                "commits": f["commits"],
                "raw_writes_per_second": round(writes / f["raw"], 1),
                "storage_writes_per_second": round(writes / f["storage"], 1),
                "case_writes_per_second": round(writes / f["case"], 1),
                "ratio_storage": round(f["raw"] / f["storage"], 3),
                "ratio_case": round(f["raw"] / f["case"], 3),
            }
            for name, f in found.items()
        },
        "with_models": {
            "raw_model_writes_per_second": round(writes / models, 1),
            "http_writes_per_second": round(writes / http["seconds"], 1),
            "http_p50_ms": http["p50_ms"],
            "ratio_raw_sqlite_and_models": round((many["raw"] + models) / http["seconds"], 3),
            "ratio_raw_sqlite_alone": round(many["raw"] / http["seconds"], 4),
        },
        "target": 0.5,
    }


def spread_over(clients: int, calls: Sequence[Callable[[], Any]]) -> float:
    """Return how many seconds the calls take from so many threads."""
    with ThreadPoolExecutor(clients) as pool:
        started = time.perf_counter()
        for done in [pool.submit(call) for call in calls]:
            done.result()
        return time.perf_counter() - started


def database_of(container: Container) -> SqlDatabase:
    return container.services.remember._database


def command(n: int, fact: Fact) -> RememberCommand:
    triple = fact.spoken.triple
    stated = Triple(triple.subject, triple.attribute, triple.value)
    return RememberCommand(f"user{n}", fact=Claimed(fact.text, stated, fact.said))


def body(given: RememberCommand) -> dict[str, Any]:
    fact = given.fact
    return {
        "user_id": given.user_id,
        "fact": {
            "text": fact.text,
            "subject": fact.triple.subject,
            "attribute": fact.triple.attribute,
            "value": fact.triple.value,
            "source": fact.source,
        },
    }

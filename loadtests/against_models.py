"""``/check`` over HTTP against the same work on bare ONNX Runtime.

The gate runs once in this process, on the product's own sessions, and every array that reaches one
is kept: those are the tokens that a check costs when no cache knows its texts. The bare figures are
those arrays put through the same sessions again, nothing else; the service gets the same requests,
which it has not seen either. Both take turns, so that both meet the same machine.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from client import drive
from report import spread
from said import Talk
from serving import Served, models_dir, serving

from service.adapters.language.analyser import EnglishAnalyser
from service.adapters.onnx.loading import ModelSettings, load_models
from service.domain.check import CheckInput
from service.usecases.gate import Gate
from service.usecases.policies import BUILT_IN

CLIENTS = 32
BATCH_ROWS, BATCH_TOKENS = 32, 768
TURNS = 4
Feeds = dict[str, np.ndarray]


@dataclass(slots=True)
class Session:
    """A session that keeps what it is given while somebody listens."""

    path: str
    options: ort.SessionOptions
    real: Any
    outputs: list[str] | None = None
    kept: list[Feeds] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, outputs: list[str], feeds: Feeds) -> Any:
        with self.lock:
            self.kept.append(feeds)
            self.outputs = outputs
        return self.real.run(outputs, feeds)

    def again(self, feeds: Feeds) -> None:
        """Run as it was run, and keep nothing."""
        self.real.run(self.outputs, feeds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def take(self) -> list[Feeds]:
        """Return what came since the last time."""
        with self.lock:
            taken, self.kept = self.kept, []
        return taken


@contextmanager
def noted_sessions() -> Iterator[list[Session]]:
    """Have every session that is opened from a file keep its inputs."""
    found: list[Session] = []
    real = ort.InferenceSession

    def opened(model: Any, options: Any = None, **given: Any) -> Any:
        session = real(model, options, **given)
        if not isinstance(model, str):
            return session
        found.append(Session(model, options, session))
        return found[-1]

    ort.InferenceSession = opened
    try:
        yield found
    finally:
        ort.InferenceSession = real


@dataclass(slots=True)
class NotedLanguage:
    """An analyser that keeps the texts it had not parsed before."""

    real: EnglishAnalyser
    texts: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def parse(self, texts: Sequence[str]) -> Any:
        fresh = [t for t in dict.fromkeys(texts) if t not in self.seen]
        self.seen.update(fresh)
        self.texts += fresh
        return self.real.parse(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@dataclass(frozen=True, slots=True)
class Work:
    """What one request asks of the sessions, in order."""

    body: dict[str, Any]
    runs: list[tuple[Session, Feeds]]
    texts: list[str]


class Bench:
    """The product's models in this process, and what they were asked."""

    def __init__(self, stack: ExitStack) -> None:
        with noted_sessions() as self.sessions:
            models = load_models(ModelSettings(models_dir()))
        if not self.sessions:
            raise RuntimeError("no session was opened where this looks for them")
        stack.callback(models.close)
        language = EnglishAnalyser()
        stack.callback(language.close)
        self._language = NotedLanguage(language)
        self._gate = Gate(nli=models.nli, embedder=models.embedder, language=self._language)
        self.note({"source": "I moved to Oslo in May.", "fact": "The user lives in Oslo."})

    def note(self, body: dict[str, Any]) -> Work:
        for session in self.sessions:
            session.take()
        self._language.texts.clear()
        self._gate.judge([(CheckInput(body["source"], body["fact"]), BUILT_IN)])
        runs = [(s, feeds) for s in self.sessions for feeds in s.take()]
        return Work(body, runs, list(self._language.texts))

    def spacy_seconds(self, texts: Sequence[str]) -> float:
        """How long spaCy alone takes for the texts, in one batch on one thread."""
        pipeline = self._language.real._parser._nlp
        started = time.perf_counter()
        for _ in pipeline.pipe(texts, batch_size=64):
            pass
        return time.perf_counter() - started


def alone(work: Work) -> float:
    """Milliseconds of one check's arrays, one after another, on the product's sessions."""
    started = time.perf_counter()
    for session, feeds in work.runs:
        session.again(feeds)
    return (time.perf_counter() - started) * 1000


class Together:
    """All rows of many checks, in full batches of like lengths, on every core."""

    def __init__(self, works: Sequence[Work], cores: int) -> None:
        self._cores = cores
        self.batches: list[tuple[Session, Feeds]] = []
        sessions = {id(s): s for w in works for s, _ in w.runs}
        for key, session in sessions.items():
            rows = [r for w in works for s, f in w.runs if id(s) == key for r in unpadded(f)]
            self.batches += [(session, padded(part)) for part in grouped(rows)]

    def seconds(self) -> float:
        """How long all of it takes with one thread per core, each taking the next batch."""
        waiting = iter(sorted(self.batches, key=lambda b: -b[1]["input_ids"].size))
        lock = threading.Lock()

        def work() -> None:
            while True:
                with lock:
                    found = next(waiting, None)
                if found is None:
                    return
                found[0].again(found[1])

        threads = [threading.Thread(target=work) for _ in range(self._cores)]
        started = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - started


def unpadded(feeds: Feeds) -> list[Feeds]:
    lengths = feeds["attention_mask"].sum(axis=1)
    return [{k: v[row, :n] for k, v in feeds.items()} for row, n in enumerate(lengths)]


def padded(rows: Sequence[Feeds]) -> Feeds:
    width = max(len(r["input_ids"]) for r in rows)
    made = {k: np.zeros((len(rows), width), dtype=v.dtype) for k, v in rows[0].items()}
    for n, row in enumerate(rows):
        for name, values in row.items():
            made[name][n, : len(values)] = values
    return made


def grouped(rows: Sequence[Feeds]) -> Iterator[list[Feeds]]:
    """Cut rows of growing length into batches of so many rows and so many padded tokens."""
    part: list[Feeds] = []
    for row in sorted(rows, key=lambda r: len(r["input_ids"])):
        width = len(row["input_ids"])
        if part and (len(part) == BATCH_ROWS or width * (len(part) + 1) > BATCH_TOKENS):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def measure(folder: Path, singles: int, many: int, cores: int) -> dict[str, Any]:
    """Return the figures of both sides and their ratios."""
    talk = Talk(11)
    with ExitStack() as stack:
        bench = Bench(stack)
        asked = [[bench.note(talk.check()) for _ in range(singles)] for _ in range(2)]
        crowd = [bench.note(talk.check()) for _ in range(many)]
        served = stack.enter_context(serving(folder))
        drive(served.port, "/check", [talk.check() for _ in range(8)], clients=4)
        return one_by_one(served, *asked) | at_once(served, bench, crowd, cores)


def one_by_one(
    served: Served, recorded: Sequence[Work], unrecorded: Sequence[Work]
) -> dict[str, Any]:
    raw: list[float] = []
    http: dict[str, list[float]] = {"recorded": [], "unrecorded": []}
    failed = 0
    for turn in range(TURNS):
        for name, works in (("recorded", recorded), ("unrecorded", unrecorded)):
            mine = works[turn::TURNS]
            bodies = [w.body | {"record": name == "recorded"} for w in mine]
            outcome = drive(served.port, "/check", bodies)
            http[name] += outcome.times
            failed += outcome.failed
            raw += [alone(w) for w in mine]
    tokens = [f["input_ids"].size for w in recorded for _, f in w.runs]
    middle = statistics.median(raw)
    return {
        "single": {
            "checks": 2 * len(recorded),
            "failed": failed,
            "padded_tokens_per_check": round(sum(tokens) / len(recorded), 1),
            "raw_ms": spread(raw),
            "http_ms": spread(http["recorded"]),
            "http_unrecorded_ms": spread(http["unrecorded"]),
            "ratio": round(statistics.median(http["recorded"]) / middle, 3),
            "ratio_unrecorded": round(statistics.median(http["unrecorded"]) / middle, 3),
            "target": 1.25,
        }
    }


def at_once(served: Served, bench: Bench, crowd: Sequence[Work], cores: int) -> dict[str, Any]:
    raw, parse, http, failed = 0.0, 0.0, 0.0, 0
    for turn in range(2):
        mine = crowd[turn::2]
        outcome = drive(served.port, "/check", [w.body for w in mine], clients=CLIENTS)
        http += outcome.seconds
        failed += outcome.failed
        raw += Together(mine, cores).seconds()
        parse += bench.spacy_seconds([text for w in mine for text in w.texts])
    with_parse = raw + parse / cores
    return {
        "batched": {
            "checks": len(crowd),
            "clients": CLIENTS,
            "cores": cores,
            "failed": failed,
            "raw_checks_per_second": round(len(crowd) / raw, 2),
            "raw_with_spacy_checks_per_second": round(len(crowd) / with_parse, 2),
            "spacy_seconds_per_check": round(parse / len(crowd), 5),
            "http_checks_per_second": round(len(crowd) / http, 2),
            "ratio": round(raw / http, 3),
            "ratio_with_spacy": round(with_parse / http, 3),
            "target": 0.8,
        }
    }

"""One evaluation from start to end: load the models, score every suite, write the report."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from service.bootstrap import packaged_parts
from service.evaluation.cases import case_files
from service.evaluation.data import MissingDataError
from service.evaluation.decode import decode
from service.evaluation.extraction import extraction
from service.evaluation.locomo import locomo
from service.evaluation.nli_sets import nli_sets
from service.evaluation.recall_cases import recall_cases
from service.evaluation.recall_locomo import recall_locomo
from service.evaluation.report import markdown, show, show_section, summary_table, write
from service.evaluation.sections import Bench, Section, Suite
from service.evaluation.wice import wice
from service.evaluation.wrong_answers import wrong_answers
from service.ports.models import Embedder, EntailmentModel
from service.settings import Models, Settings, load_settings
from service.usecases.gate import Gate
from service.usecases.policies import BUILT_IN

SUITES: dict[str, Suite] = {
    "Case files": case_files,
    "Messages to facts": extraction,
    "Public inference sets": nli_sets,
    "LoCoMo observations": locomo,
    "LoCoMo wrong answers": wrong_answers,
    "WiCE: long sources": wice,
    "DECODE: contradicting oneself": decode,
    "Recall cases": recall_cases,
    "LoCoMo recall": recall_locomo,
}
CASES = Path("tests/cases")
_QUEUE = 100_000  # whole chunks wait before the models, from two threads


def main(
    data: Path | None, cases: Path = CASES, out: Path | None = None, full: bool = False
) -> int:
    """Score the gate, print the figures and write them to ``out``; return the exit code.

    Raises:
        Unavailable: a model cannot be loaded.
    """
    console = Console()
    started = time.perf_counter()
    with _models() as (gate, nli, embedder):
        bench = Bench(
            judge=lambda asked: gate.judge([(one, BUILT_IN) for one in asked]),
            classify=nli.classify,
            data=data,
            cases=cases,
            full=full,
            embedder=embedder,
            nli=nli,
        )
        sections = [score(console, name, suite, bench) for name, suite in SUITES.items()]
        facts = _facts(gate, full)
    facts["time"] = _seconds(started)
    show(console, summary_table(sections))
    if out is not None:
        console.print(f"Written to {write(out, markdown(facts, sections))}.")
    return 0


def score(console: Console, name: str, suite: Suite, bench: Bench) -> Section:
    """Run one suite and print what it found; a suite without its data says so."""
    started = time.perf_counter()
    try:
        found = suite(bench)
        notes = [*found.notes, f"Took {_seconds(started)}."]
        section = Section(found.title, found.summary, found.tables, notes)
    except MissingDataError as missing:
        section = Section(name, {}, [], [f"Skipped, because it is missing: {missing}."])
    show_section(console, section)
    return section


@contextmanager
def _models() -> Iterator[tuple[Gate, EntailmentModel, Embedder]]:
    """Load the models; give the gate that the service runs, and its models alone."""
    settings = load_settings()
    parts = packaged_parts(settings.model_copy(update={"models": _patient(settings)}))
    with ExitStack() as opened:
        nli, embedder = parts.nli(), parts.embedder()
        for model in (nli, embedder):
            opened.callback(getattr(model, "close", lambda: None))
        yield Gate(nli=nli, embedder=embedder, language=parts.language()), nli, embedder


def _patient(settings: Settings) -> Models:
    return settings.models.model_copy(update={"queue": _QUEUE})


def _facts(gate: Gate, full: bool) -> dict[str, str]:
    digests = {f"{role} model": f"`{digest}`" for role, digest in gate.models().items()}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "samples": "full" if full else "default",
        "policy": f"{BUILT_IN.name} {BUILT_IN.version}, `{BUILT_IN.fingerprint}`",
        **digests,
    }


def _commit() -> str:
    """Return the commit that is checked out, marked when files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - fixed
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return found.stdout.strip()


def _seconds(started: float) -> str:
    return f"{time.perf_counter() - started:.0f} s"

"""The parts of a report, and what every suite gets to work with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from service.domain.entailment import EntailmentScores
from service.evaluation.data import MissingDataError
from service.evaluation.items import Judge, Judged
from service.evaluation.tally import Tally, percent, share, tally
from service.ports.models import Embedder, EntailmentModel

Row: TypeAlias = tuple[str, ...]
Classify: TypeAlias = Callable[[Sequence[tuple[str, str]]], list[EntailmentScores]]
TALLY_HEADER: Row = (
    "n",
    "right",
    "store recall",
    "false stores",
    "false rejects",
    "reviews",
)
_TEXT_LIMIT = 160


@dataclass(frozen=True, slots=True)
class Bench:
    """What a suite works with: the gate, the bare entailment model and where the data is."""

    judge: Judge
    classify: Classify
    data: Path | None
    cases: Path
    full: bool = False
    embedder: Embedder | None = None
    nli: EntailmentModel | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a report."""

    title: str
    header: Row
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Section:
    """What one suite found.

    Attributes:
        title: the suite's name.
        summary: its lines in the table at the top, by name.
        tables: everything else.
        notes: what a reader should know, one paragraph each.
    """

    title: str
    summary: dict[str, Tally]
    tables: list[Table]
    notes: list[str]


Suite: TypeAlias = Callable[[Bench], Section]


def models_of(bench: Bench) -> tuple[Embedder, EntailmentModel]:
    """Return the bare models; raises ``MissingDataError`` for a bench without them."""
    if bench.embedder is None or bench.nli is None:
        raise MissingDataError("the models")
    return bench.embedder, bench.nli


def tally_row(found: Tally) -> Row:
    """Return the cells under ``TALLY_HEADER``."""
    return (
        str(found.n),
        percent(found.right, found.n),
        share(found.must_stored, found.must_store),
        share(found.false_stores, found.barred),
        share(found.false_rejects, found.safe),
        percent(found.reviews, found.n),
    )


def tally_table(title: str, found: dict[str, Tally]) -> Table:
    """Return a table with one line per name."""
    return Table(title, ("set", *TALLY_HEADER), [(k, *tally_row(v)) for k, v in found.items()])


def listing(title: str, judged: Sequence[Judged]) -> list[Table]:
    """Return a table that shows the items themselves; none for no items."""
    rows = [
        (
            j.item.key,
            f"{j.outcome.verdict} {j.outcome.reason_code}",
            clip(j.item.asked.source),
            clip(j.item.asked.fact),
        )
        for j in judged
    ]
    return [Table(title, ("id", "verdict", "source", "fact"), rows)] if rows else []


def false_stores(name: str, judged: Sequence[Judged]) -> list[Table]:
    """Return a table of everything that was stored and must not have been."""
    wrong = [j for j in judged if j.stored and not j.right]
    return listing(f"{name}: stored, and must not have been ({len(wrong)})", wrong)


def group(judged: Sequence[Judged], kind: str) -> list[Judged]:
    """Return the items of one kind."""
    return [j for j in judged if j.item.kind == kind]


def tallies(prefix: str, judged: Sequence[Judged], kinds: Sequence[str]) -> dict[str, Tally]:
    """Return the counts of some kinds, named for the summary."""
    return {f"{prefix}: {kind}": tally(group(judged, kind)) for kind in kinds}


def clip(text: str) -> str:
    """Return a text on one line, shortened in the middle when it is long."""
    flat = " ".join(text.split())
    half = _TEXT_LIMIT // 2
    return flat if len(flat) <= _TEXT_LIMIT else f"{flat[:half]} … {flat[-half:]}"

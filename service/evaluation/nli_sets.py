"""Public sets for natural-language inference, read as sources and facts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.entailment import EntailmentScores
from service.domain.verdicts import Verdict
from service.evaluation.data import MissingDataError, read_lines
from service.evaluation.items import (
    NOT_STORE,
    REJECT_ONLY,
    REVIEW_ONLY,
    STORE_ONLY,
    Item,
    Judged,
    asked,
    draw,
    judge_items,
)
from service.evaluation.sections import Bench, Row, Section, Table
from service.evaluation.tally import Tally, percent, tally

SETS = (
    "mnli_dev_m",
    "snli_test",
    "breaking_nli",
    "neg_snli",
    "neg_mnli",
    "conj_dev",
    "clasp_dnli",
    "scitail_test",
    "fever_val",
    "hans",
)
ALLOWED: Mapping[str, frozenset[Verdict]] = {
    "entailment": STORE_ONLY,
    "neutral": REVIEW_ONLY,
    "contradiction": REJECT_ONLY,
    "not_entailment": NOT_STORE,
}
HEADER: Row = (
    "set",
    "n",
    "gate: false stores",
    "gate: false rejects",
    "gate: store recall",
    "gate: reviews",
    "bare model: false entailments",
    "bare model: entailment recall",
    "bare model: accuracy",
    "seconds",
)
_SIZE, _FULL_SIZE = 300, 1000


@dataclass(frozen=True, slots=True)
class Bare:
    """What the entailment model alone makes of a set, by its likeliest class."""

    right: int
    entailments: int
    false_entailments: int


def nli_sets(bench: Bench) -> Section:
    """Score the gate and the bare entailment model on the public sets."""
    rows: list[Row] = []
    summary: dict[str, Tally] = {}
    notes: list[str] = []
    for name in SETS:
        started = time.perf_counter()
        try:
            items = _items(bench, name)
        except MissingDataError as missing:
            notes.append(f"Skipped, because it is missing: {missing}.")
            continue
        judged = judge_items(bench.judge, items)
        bare = bare_model(items, bench.classify([(i.asked.source, i.asked.fact) for i in items]))
        summary[f"NLI: {name}"] = tally(judged)
        rows.append(_row(name, judged, bare, time.perf_counter() - started))
    table = Table("The gate beside the bare entailment model", HEADER, rows)
    return Section("Public inference sets", summary, [table] if rows else [], notes)


def _items(bench: Bench, name: str) -> list[Item]:
    rows = read_lines(bench.data, f"nli/{name}.jsonl.gz")
    usable = [r for r in rows if r["premise"].strip() and r["hypothesis"].strip()]
    chosen = draw(usable, _FULL_SIZE if bench.full else _SIZE, name)
    return [_item(f"{name}-{i}", row) for i, row in enumerate(chosen)]


def _item(key: str, row: Mapping[str, Any]) -> Item:
    return Item(key, asked(row["premise"], row["hypothesis"]), ALLOWED[row["label"]], row["label"])


def bare_model(items: Sequence[Item], scores: Sequence[EntailmentScores]) -> Bare:
    """Return what the model's likeliest classes amount to.

    Where a set only knows ``not_entailment``, neutral and contradiction are both right.
    """
    guesses = [_likeliest(s) for s in scores]
    labels = [item.kind for item in items]
    pairs = list(zip(labels, guesses, strict=True))
    return Bare(
        right=sum(
            guess == label or (label == "not_entailment" and guess != "entailment")
            for label, guess in pairs
        ),
        entailments=sum(label == guess == "entailment" for label, guess in pairs),
        false_entailments=sum(
            guess == "entailment" and label != "entailment" for label, guess in pairs
        ),
    )


def _likeliest(scores: EntailmentScores) -> str:
    classes = ("entailment", "neutral", "contradiction")
    return max(classes, key=lambda name: float(getattr(scores, name)))


def _row(name: str, judged: Sequence[Judged], bare: Bare, seconds: float) -> Row:
    found = tally(judged)
    return (
        name,
        str(found.n),
        percent(found.false_stores, found.barred),
        percent(found.false_rejects, found.safe),
        percent(found.must_stored, found.must_store),
        percent(found.reviews, found.n),
        percent(bare.false_entailments, found.barred),
        percent(bare.entailments, found.must_store),
        percent(bare.right, found.n),
        f"{seconds:.0f}",
    )

"""WiCE: claims from Wikipedia against the web pages that they cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from service.evaluation.data import read_lines
from service.evaluation.items import NOT_STORE, STORE_ONLY, Item, asked, draw, judge_items
from service.evaluation.sections import Bench, Section, Table, false_stores, tallies, tally_table
from service.evaluation.tally import by_kind, share

FILE = "eval/wice_claim_dev.jsonl.gz"
LABELS = ("supported", "partially_supported", "not_supported")
_LIMIT = 32_000  # characters of one page
_SIZE = 60
_CHUNK = 4  # pages are long


def wice(bench: Bench) -> Section:
    """Score the gate on claims against web pages, and how often it quotes the right sentence."""
    rows = draw(read_lines(bench.data, FILE), None if bench.full else _SIZE, "wice")
    items = [_item(str(i), row) for i, row in enumerate(rows)]
    judged = judge_items(bench.judge, items, _CHUNK)
    quoted = [
        quotes(row, j.item.asked.source, j.outcome.evidence.start if j.outcome.evidence else None)
        for row, j in zip(rows, judged, strict=True)
        if _wanted(row)
    ]
    return Section(
        title="WiCE: long sources",
        summary=tallies("WiCE", judged, LABELS),
        tables=[
            tally_table("By label", by_kind(judged)),
            Table(
                "Evidence", ("quoted a supporting sentence",), [(share(sum(quoted), len(quoted)),)]
            ),
            *false_stores("WiCE", judged),
        ],
        notes=[f"Pages are cut to {_LIMIT} characters. Claims often hold several statements."],
    )


def _item(key: str, row: Mapping[str, Any]) -> Item:
    allowed = STORE_ONLY if row["label"] == "supported" else NOT_STORE
    return Item(f"wice-{key}", asked(page(row["evidence"]), row["claim"]), allowed, row["label"])


def page(sentences: Sequence[str]) -> str:
    """Return a page with one sentence a line, up to the limit; no sentence is cut in two."""
    lines: list[str] = []
    length = 0
    for sentence in sentences:
        line = " ".join(sentence.split())
        length += len(line) + 1
        if length > _LIMIT:
            break
        lines.append(line)
    return "\n".join(lines)


def quotes(row: Mapping[str, Any], source: str, start: int | None) -> bool:
    """Return whether the evidence begins in one of the sentences that support the claim."""
    return start is not None and source.count("\n", 0, start) in _wanted(row)


def _wanted(row: Mapping[str, Any]) -> set[int]:
    return {index for group in row["supporting_sentences"] for index in group}

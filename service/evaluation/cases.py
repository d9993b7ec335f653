"""The project's own case files: requests with the verdicts that are right for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from service.domain.check import CheckInput, Message
from service.domain.verdicts import Speaker, Verdict
from service.evaluation.data import MissingDataError
from service.evaluation.items import Item, Judged, judge_items
from service.evaluation.sections import Bench, Section, Table, false_stores, tally_table
from service.evaluation.tally import Tally, by_kind, tally


def case_files(bench: Bench) -> Section:
    """Score the gate on every case file."""
    files = sorted(bench.cases.glob("*.jsonl"))
    if not files:
        raise MissingDataError(f"case files (no *.jsonl in {bench.cases.name})")
    cases = {file.stem: items for file in files if (items := read_cases(file))}
    judged = {name: judge_items(bench.judge, items) for name, items in cases.items()}
    everything = [j for found in judged.values() for j in found]
    tables = [tally_table("By kind", by_kind(everything)), *_failing(everything)]
    return Section(
        title="Case files",
        summary=_summary(judged, everything),
        tables=[*tables, *false_stores("Case files", everything)],
        notes=[],
    )


def read_cases(file: Path) -> list[Item]:
    """Return the cases of one file that are about /check."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [_item(file.stem, row) for row in rows if row.get("endpoint", "check") == "check"]


def _item(file: str, row: Mapping[str, Any]) -> Item:
    allowed = frozenset(Verdict(v) for v in row["expect"]["verdict_in"])
    return Item(
        row["id"], _input(row["request"]), allowed, f"{file}: {row['kind']}", row.get("half", "")
    )


def _input(request: Mapping[str, Any]) -> CheckInput:
    messages = tuple(
        Message(Speaker(m["role"]), m["content"], _moment(m.get("timestamp")))
        for m in request.get("messages", ())
    )
    return CheckInput(
        source=request.get("source") or "\n".join(m.content for m in messages),
        fact=request["fact"],
        speaker=Speaker(request.get("speaker", "user")),
        speaker_name=request.get("speaker_name"),
        observed_at=_moment(request.get("observed_at")),
        messages=messages,
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _summary(judged: Mapping[str, list[Judged]], everything: list[Judged]) -> dict[str, Tally]:
    found = {"cases: all": tally(everything)}
    for name, mine in judged.items():
        found[f"cases: {name}"] = tally(mine)
        for half in sorted({j.item.half for j in mine} - {""}):
            found[f"cases: {name}, {half} half"] = tally([j for j in mine if j.item.half == half])
    return found


def _failing(judged: list[Judged]) -> list[Table]:
    rows = [
        (
            j.item.key,
            j.item.kind,
            f"{j.outcome.verdict} {j.outcome.reason_code}",
            " or ".join(sorted(j.item.allowed)),
        )
        for j in judged
        if not j.right
    ]
    return [Table(f"Failing cases ({len(rows)})", ("id", "kind", "got", "right"), rows)]

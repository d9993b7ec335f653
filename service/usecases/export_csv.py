"""The log as CSV for people: RFC 4180, UTF-8 with a byte order mark, no cell that is a formula.

The mark is there because Excel otherwise reads UTF-8 as the machine's old code page. A spreadsheet
runs a cell that begins like a formula, also behind blank or invisible characters and in full width,
so such a cell gets an apostrophe in front. CSV is to look at; what can be verified is the JSONL.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from service.audit.canonical import JsonValue
from service.audit.entry import Entry, parse_entry
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow, Body

MARK: Final = b"\xef\xbb\xbf"
MEDIA_TYPE: Final = "text/csv; charset=utf-8"
_MILLION: Final = 1_000_000
_SCORES: Final = (
    "entailment",
    "neutral",
    "contradiction",
    "faithfulness",
    "relatedness",
    "relevance",
    "toxicity",
)
_TEXTS: Final = ("fact", "source", "evidence")
COLUMNS: Final = (
    *("seq", "time", "action", "actor", "subject", "decision_id", "verdict", "reason_code"),
    *("reason", *_TEXTS, *_SCORES, "policy", "memory", "entry_hash"),
)
_FORMULA: Final = frozenset("=+-@")
_LEADING: Final = frozenset("\t\r\n")


def csv_head() -> bytes:
    """Return the byte order mark and the line of column names."""
    return MARK + _line(COLUMNS)


def csv_rows(rows: Iterable[AuditRow]) -> bytes:
    """Return entries as lines, with those texts that are still there."""
    return b"".join(_line(_cells(row)) for row in rows)


def safe_cell(text: str) -> str:
    """Return the text so that no spreadsheet takes it for a formula."""
    shown = next((c for c in text if unicodedata.category(c)[0] not in "ZC"), "")
    if unicodedata.normalize("NFKC", shown)[:1] in _FORMULA or text[:1] in _LEADING:
        return f"'{text}"
    return text


def _line(cells: Iterable[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow([safe_cell(c) for c in cells])
    return out.getvalue().encode("utf-8", "replace")


def _cells(row: AuditRow) -> list[str]:
    try:
        entry = parse_entry(row.entry)
    except VerificationError:
        damaged = {"seq": str(row.seq), "action": "(damaged)", "entry_hash": row.leaf}
        return [damaged.get(name, "") for name in COLUMNS]
    found = {**_facts(entry), **_shown(row.readable()), "entry_hash": row.leaf}
    return [found.get(name, "") for name in COLUMNS]


def _facts(entry: Entry) -> dict[str, str]:
    draft = entry.draft
    decision: Mapping[str, JsonValue] = draft.decision or {}
    scores = decision.get("scores_e6")
    measured = scores if isinstance(scores, dict) else {}
    return {
        "seq": str(entry.seq),
        "time": entry.ts,
        "action": draft.kind,
        "actor": draft.actor,
        "subject": draft.subject or "",
        "decision_id": str(decision.get("id") or ""),
        "verdict": str(decision.get("verdict") or ""),
        "reason_code": str(decision.get("reason_code") or ""),
        "policy": draft.policy or "",
        "memory": " ".join(draft.memory),
        **{k: f"{v / _MILLION:.6f}" for k, v in measured.items() if isinstance(v, int)},
    }


def _shown(bodies: Mapping[str, Body]) -> dict[str, str]:
    texts = {name: bodies[name].text for name in _TEXTS if name in bodies}
    return {**texts, "reason": result_reason(bodies)}


def result_reason(bodies: Mapping[str, Body]) -> str:
    """Return the sentence that a decision gave as its reason, empty if it is not there."""
    if "result" not in bodies:
        return ""
    try:
        result = json.loads(bodies["result"].text)
    except (ValueError, RecursionError):
        return ""
    reason = result.get("reason") if isinstance(result, dict) else None
    return reason if isinstance(reason, str) else ""

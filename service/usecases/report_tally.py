"""Counting what the entries of a log say, one entry at a time."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from datetime import date
from typing import Final

from service.audit.entry import Entry
from service.audit.rows import AuditRow, Body
from service.usecases.export_csv import result_reason
from service.usecases.report_model import (
    OUTCOMES,
    Blocked,
    Bucket,
    Counts,
    Erasures,
    Evaluations,
    Example,
    Outcome,
    PolicyUse,
    ReasonCount,
    Timeline,
)
from service.usecases.report_words import meaning

_MILLION: Final = 1_000_000
_MOST: Final = 45  # bars that can be told apart
_SECRET: Final = "secret"  # noqa: S105 - a reason code, not a password
_TEXT_LIMIT: Final = 600
_IMPORTED: Final = "imported"
_PASSED: Final = "PASSED"


class Tally:
    """Feed it every readable entry with its row, in order; then ask.

    It holds counts and the newest ``examples`` blocked decisions, never the whole log.
    """

    def __init__(self, examples: int) -> None:
        self.entries = 0
        self.first: str | None = None
        self.last: str | None = None
        self.actions: Counter[str] = Counter()
        self.by_kind: dict[str, Counts] = {}
        self._days: dict[date, Counts] = {}
        self._reasons: Counter[tuple[str, Outcome]] = Counter()
        self._uses: dict[str, tuple[Counts, str, str]] = {}
        self._examples: deque[Example] = deque(maxlen=examples)
        self._blocked = self._withheld = self._textless = 0
        self._erased_ids = self._erased_users = 0
        self._evaluations: Counter[str] = Counter()

    def feed(self, row: AuditRow, entry: Entry) -> None:
        """Count one entry."""
        kind = entry.draft.kind
        self.entries += 1
        self.first, self.last = self.first or entry.ts, entry.ts
        self.actions[kind] += 1
        if kind.endswith(".decided"):
            self._decision(row, entry)
        elif kind == "erasure.done":
            self._erased_ids += len(entry.draft.memory)
            self._erased_users += not entry.draft.memory
        elif kind == "evaluation.recorded":
            self._evaluation(entry)

    def timeline(self) -> Timeline:
        """Return decisions by day, or by week, month or year where that would be too many."""
        if not self._days:
            return Timeline("day", ())
        start, end = min(self._days), max(self._days)
        unit = _unit((end - start).days)
        found = dict.fromkeys(_starts(start, end, unit), Counts())
        for day, counts in self._days.items():
            found[_start(day, unit)] = _sum(found[_start(day, unit)], counts)
        return Timeline(unit, tuple(Bucket(day, counts) for day, counts in found.items()))

    def reasons(self) -> tuple[ReasonCount, ...]:
        """Return the reasons by outcome, the most frequent first."""
        ordered = sorted(self._reasons.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ReasonCount(code, what, n, meaning(code)) for (code, what), n in ordered)

    def blocked(self) -> Blocked:
        """Return the newest blocked facts, the newest first."""
        shown = tuple(reversed(self._examples))
        return Blocked(self._blocked, shown, self._textless, self._withheld)

    def uses(self, names: Mapping[str, tuple[str, str]]) -> tuple[PolicyUse, ...]:
        """Return the policies that decisions named, with name and version where known."""
        unknown = ("unknown", "")
        return tuple(
            PolicyUse(fingerprint, *names.get(fingerprint, unknown), counts, first, last)
            for fingerprint, (counts, first, last) in self._uses.items()
        )

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """Return the fingerprints of the policies that decisions named."""
        return tuple(self._uses)

    def erasures(self) -> Erasures:
        """Return how much was erased."""
        return Erasures(self.actions["erasure.done"], self._erased_ids, self._erased_users)

    def evaluations(self) -> Evaluations:
        """Return the evaluations."""
        unverified = sum(n for code, n in self._evaluations.items() if code.startswith("imported_"))
        return Evaluations(
            passed=self._evaluations["passed"],
            failed=self._evaluations["failed"],
            imported=self._evaluations[_IMPORTED] + unverified,
            imported_unverified=unverified,
        )

    def _decision(self, row: AuditRow, entry: Entry) -> None:
        decision = entry.draft.decision or {}
        verdict, code = str(decision.get("verdict")), str(decision.get("reason_code"))
        outcome = OUTCOMES.get(verdict)
        if outcome is None:
            return
        kind, day = entry.draft.kind, date.fromisoformat(entry.ts[:10])
        self.by_kind[kind] = self.by_kind.get(kind, Counts()).plus(outcome)
        self._days[day] = self._days.get(day, Counts()).plus(outcome)
        self._reasons[code, outcome] += 1
        policy = entry.draft.policy or ""
        counts, first, _ = self._uses.get(policy, (Counts(), entry.ts, ""))
        self._uses[policy] = (counts.plus(outcome), first, entry.ts)
        if outcome is Outcome.BLOCKED:
            self._block(row, entry, verdict, code)

    def _block(self, row: AuditRow, entry: Entry, verdict: str, code: str) -> None:
        self._blocked += 1
        bodies = row.readable()
        if code == _SECRET:
            self._withheld += 1
        elif "fact" not in bodies:
            self._textless += 1
        else:
            self._examples.append(_example(entry, verdict, code, bodies))

    def _evaluation(self, entry: Entry) -> None:
        decision = entry.draft.decision or {}
        code = str(decision.get("reason_code"))
        if code.startswith(_IMPORTED):
            self._evaluations[code] += 1
        else:
            self._evaluations["passed" if decision.get("verdict") == _PASSED else "failed"] += 1


def _example(entry: Entry, verdict: str, code: str, bodies: Mapping[str, Body]) -> Example:
    texts = {name: shortened(body.text) for name, body in bodies.items() if name != "result"}
    scores = (entry.draft.decision or {}).get("scores_e6")
    found = scores.items() if isinstance(scores, dict) else ()
    return Example(
        seq=entry.seq,
        at=entry.ts,
        verdict=verdict,
        reason_code=code,
        meaning=meaning(code),
        reason=shortened(result_reason(bodies)),
        fact=texts.get("fact", ""),
        source=texts.get("source", ""),
        evidence=texts.get("evidence", ""),
        scores={name: value / _MILLION for name, value in found if isinstance(value, int)},
        policy=entry.draft.policy or "",
    )


def shortened(text: str) -> str:
    """Return the text, or its start and how much of it is left out."""
    readable = text.encode("utf-8", "replace").decode()
    rest = len(readable) - _TEXT_LIMIT
    return readable if rest <= 0 else f"{readable[:_TEXT_LIMIT]}… ({rest:,} more characters)"


def _unit(days: int) -> str:
    limits = {"day": _MOST, "week": _MOST * 7, "month": _MOST * 31}
    return next((unit for unit, limit in limits.items() if days <= limit), "year")


def _start(day: date, unit: str) -> date:
    """Return the first day of the day, week, month or year that a day is in."""
    if unit == "week":
        return date.fromordinal(max(1, day.toordinal() - day.weekday()))
    if unit == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if unit == "year" else day


def _starts(first: date, last: date, unit: str) -> list[date]:
    """Return the first days of everything between two days, both included."""
    start = _start(first, unit)
    if unit == "year":
        return [date(year, 1, 1) for year in range(start.year, last.year + 1)]
    if unit == "month":
        months = range(start.year * 12 + start.month - 1, last.year * 12 + last.month)
        return [date(month // 12, month % 12 + 1, 1) for month in months]
    step = 7 if unit == "week" else 1
    return [date.fromordinal(n) for n in range(start.toordinal(), last.toordinal() + 1, step)]


def _sum(one: Counts, other: Counts) -> Counts:
    return Counts(
        one.let_through + other.let_through,
        one.blocked + other.blocked,
        one.flagged + other.flagged,
    )

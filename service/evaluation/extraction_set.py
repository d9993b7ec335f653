"""How well messages become facts: precision and recall on the project's own messages.

A found fact matches an expected one when the subject is the same, the polarity is the same, the
expected value is part of the found value (letter case aside), and one of the expected attributes or
keywords is in the found attribute or in the found text. Every found fact that matches
nothing is spurious; every expected fact that nothing matches is missed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from service.domain.check import Message
from service.domain.extraction.types import Candidate, Skipped
from service.domain.verdicts import Speaker
from service.usecases.extract import Extractor

DEFAULT_TIME = datetime(2026, 1, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ExpectedFact:
    """One fact that a message states; every list holds alternatives."""

    subjects: tuple[str, ...]
    attributes: tuple[str, ...]
    values: tuple[str, ...]
    polarity: bool = True
    retracts: bool = False
    correction: bool = False
    since: tuple[date, date] | None = None

    def matches(self, found: Candidate) -> bool:
        """Return whether a found fact is this one."""
        triple = found.triple
        if triple.subject not in self.subjects or triple.polarity is not self.polarity:
            return False
        value = triple.value.casefold()
        if not any(v.casefold() in value for v in self.values):
            return False
        text = found.text.casefold()
        return any(a in text or a in triple.attribute for a in self.attributes)

    def details_right(self, found: Candidate) -> bool:
        """Return whether retraction, correction and date are as expected, beyond the match."""
        if found.retracts is not self.retracts or (self.correction and not found.correction):
            return False
        if self.since is None:
            return True
        moment = found.valid_from
        return moment is not None and self.since[0] <= moment.date() <= self.since[1]


@dataclass(frozen=True, slots=True)
class ExtractionCase:
    """Messages with the facts that they state, all together."""

    id: str
    half: str
    kind: str
    messages: tuple[Message, ...]
    facts: tuple[ExpectedFact, ...]
    skip: str | None


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """What was found in one case, against what should be."""

    case: ExtractionCase
    extracted: tuple[Candidate, ...]
    skipped: tuple[Skipped, ...]
    spurious: tuple[Candidate, ...]
    missed: tuple[ExpectedFact, ...]
    details_wrong: int
    matched: tuple[Candidate, ...] = ()

    @property
    def skip_right(self) -> bool:
        """Return whether the expected reason for keeping nothing was among those given."""
        expected = self.case.skip
        return expected is None or any(s.reason.value == expected for s in self.skipped)


def read_set(file: Path) -> list[ExtractionCase]:
    """Return the cases of a file."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [_case(row) for row in rows]


def _case(row: dict[str, Any]) -> ExtractionCase:
    messages = tuple(
        Message(Speaker(m["role"]), m["content"], _moment(m.get("timestamp")))
        for m in row["messages"]
    )
    facts = tuple(_fact(f) for f in row["facts"])
    return ExtractionCase(row["id"], row["half"], row["kind"], messages, facts, row.get("skip"))


def _fact(row: dict[str, Any]) -> ExpectedFact:
    between = row.get("valid_from_between")
    return ExpectedFact(
        subjects=tuple(row["subject"]),
        attributes=tuple(row["attribute"]),
        values=tuple(row["value"]),
        polarity=row.get("polarity", True),
        retracts=row.get("retracts", False),
        correction=row.get("correction", False),
        since=(date.fromisoformat(between[0]), date.fromisoformat(between[1])) if between else None,
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def score_case(extractor: Extractor, case: ExtractionCase) -> ExtractionResult:
    """Return what the extractor makes of a case; each found fact answers one expected fact."""
    found = extractor.extract(case.messages, observed_at=DEFAULT_TIME)
    candidates = [c for extraction in found for c in extraction.candidates]
    left, missed, matched, wrong = list(candidates), [], [], 0
    for expected in case.facts:
        match = next((c for c in left if expected.matches(c)), None)
        if match is None:
            missed.append(expected)
            continue
        left.remove(match)
        matched.append(match)
        wrong += not expected.details_right(match)
    return ExtractionResult(
        case=case,
        extracted=tuple(candidates),
        skipped=tuple(s for extraction in found for s in extraction.skipped),
        spurious=tuple(left),
        missed=tuple(missed),
        details_wrong=wrong,
        matched=tuple(matched),
    )


@dataclass(frozen=True, slots=True)
class ExtractionTotals:
    """Counts over some cases."""

    cases: int
    expected: int
    matched: int
    spurious: int
    details_right: int
    skips: int
    skips_right: int

    @property
    def precision(self) -> float:
        """Return the share of found facts that were expected."""
        found = self.matched + self.spurious
        return self.matched / found if found else 1.0

    @property
    def recall(self) -> float:
        """Return the share of expected facts that were found."""
        return self.matched / self.expected if self.expected else 1.0


def totals(results: Sequence[ExtractionResult]) -> ExtractionTotals:
    """Return the counts."""
    skips = [r for r in results if r.case.skip]
    matched = sum(len(r.matched) for r in results)
    return ExtractionTotals(
        cases=len(results),
        expected=sum(len(r.case.facts) for r in results),
        matched=matched,
        spurious=sum(len(r.spurious) for r in results),
        details_right=matched - sum(r.details_wrong for r in results),
        skips=len(skips),
        skips_right=sum(r.skip_right for r in skips),
    )

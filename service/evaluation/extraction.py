"""Messages to facts: the extraction set, and what the gate makes of what was found."""

from __future__ import annotations

from collections.abc import Sequence

from service.adapters.language.analyser import EnglishAnalyser
from service.domain.check import CheckInput, Message
from service.domain.extraction.types import Candidate
from service.evaluation.data import MissingDataError
from service.evaluation.extraction_set import (
    DEFAULT_TIME,
    ExtractionCase,
    ExtractionResult,
    ExtractionTotals,
    read_set,
    score_case,
    totals,
)
from service.evaluation.sections import Bench, Section, Table, clip
from service.evaluation.tally import percent, share
from service.usecases.extract import Extractor

FILE = "extraction.jsonl"
HALVES = ("tuned", "untouched")
_HEADER = (
    "half",
    "cases",
    "facts",
    "recall",
    "precision",
    "details right",
    "reasons right",
    "passed the gate",
)
_NOTES = [
    "A found fact matches an expected one when subject and polarity are the same, the expected "
    "value is part of the found value (letter case aside), and one of the expected attributes or "
    "keywords is in the found attribute or text. Recall is the share of expected facts that were "
    "found, precision the share of found facts that were expected. Details are retraction, "
    "correction and date of the facts that match; reasons are those given for messages that state "
    "nothing. The last column is the share of matching facts that the gate stores when it is given "
    "the message as source and the canonical text as fact.",
    "All messages were written before the extractor, by its author, who so knew both halves. Its "
    "rules were shaped while looking at results of the tuned half and of messages outside the set; "
    "of the untouched half only the totals were looked at. They did have an effect: two rules were "
    "mended after these totals had fallen. The very first version, before any tuning, found 69 of "
    "86 facts of that half with a precision of 84%.",
]


def extraction(bench: Bench) -> Section:
    """Score the extractor on its own messages, by half."""
    file = bench.cases / FILE
    if not file.is_file():
        raise MissingDataError(FILE)
    extractor = Extractor(EnglishAnalyser())
    cases = read_set(file)
    results = [score_case(extractor, case) for case in cases]
    rows = [_row(bench, half, [r for r in results if r.case.half == half]) for half in HALVES]
    tuned = [r for r in results if r.case.half == HALVES[0]]
    return Section(
        title="Messages to facts",
        summary={},
        tables=[Table("By half", _HEADER, rows), *_wrong(tuned)],
        notes=_NOTES,
    )


def _row(bench: Bench, half: str, results: Sequence[ExtractionResult]) -> tuple[str, ...]:
    found: ExtractionTotals = totals(results)
    asked = [_asked(r.case, c) for r in results for c in r.matched]
    stored = sum(o.verdict.value == "STORE" for o in bench.judge(asked)) if asked else 0
    return (
        half,
        str(found.cases),
        str(found.expected),
        share(found.matched, found.expected),
        share(found.matched, found.matched + found.spurious),
        share(found.details_right, found.matched),
        share(found.skips_right, found.skips),
        percent(stored, len(asked)),
    )


def _asked(case: ExtractionCase, candidate: Candidate) -> CheckInput:
    message = _message_of(case, candidate)
    return CheckInput(
        source=message.content,
        fact=candidate.text,
        speaker=message.role,
        observed_at=message.timestamp or DEFAULT_TIME,
    )


def _message_of(case: ExtractionCase, candidate: Candidate) -> Message:
    """Return the message in which a candidate's value stands."""
    words = candidate.triple.value.casefold().split()
    return max(case.messages, key=lambda m: sum(w in m.content.casefold() for w in words))


def _wrong(results: Sequence[ExtractionResult]) -> list[Table]:
    """Return a table of what went wrong in a half that may be looked at."""
    rows = [
        (
            r.case.id,
            clip(" / ".join(m.content for m in r.case.messages)),
            "; ".join(", ".join(e.values) for e in r.missed),
            "; ".join(c.text for c in r.spurious),
        )
        for r in results
        if r.missed or r.spurious
    ]
    header = ("id", "messages", "missed", "not expected")
    return [Table(f"Tuned half: wrong ({len(rows)})", header, rows)] if rows else []

"""A report as a sequence of blocks, in the order in which somebody would want to read it."""

from __future__ import annotations

from collections.abc import Iterator

from service.adapters.reporting.blocks import (
    Block,
    Bullets,
    Cell,
    Chart,
    Details,
    Heading,
    Paragraph,
    Table,
)
from service.adapters.reporting.rules import rules
from service.adapters.reporting.trust import trust
from service.usecases.report_model import Counts, Example, LogReport
from service.usecases.report_summary import day, moment, percent, period, plural, summary

_SHORT = 12


def document(report: LogReport) -> Iterator[Block]:
    """Return the blocks of a report."""
    yield Heading("Audit report", 1)
    yield Paragraph(
        f"Tenant {report.tenant}, log {report.origin}, {period(report)}. "
        f"Made on {day(report.made_at)}."
    )
    yield Heading("In short")
    if not report.verification.ok:
        yield Paragraph("The log does not verify. See “Can this log be relied on?”.", alarm=True)
    yield Bullets(summary(report))
    yield from _decisions(report)
    yield from _reasons(report)
    yield from _blocked(report)
    yield from _reviews(report)
    yield from rules(report)
    yield from _rest(report)
    yield from trust(report)
    yield from _reading()


def _decisions(report: LogReport) -> Iterator[Block]:
    yield Heading("Decisions")
    if not report.decisions.total:
        yield Paragraph("There are none in this period.")
        return
    yield Chart("share")
    named = {
        "Checks (a fact against its source)": report.checks,
        "Adjudications (a new fact against known ones)": report.adjudications,
        "Both": report.decisions,
    }
    head = ("", "let through", "blocked", "flagged for review", "all")
    rows = tuple((name, *_row(counts)) for name, counts in named.items())
    shares = (_share(report.decisions),)
    yield Table("Decisions by outcome", head, rows + shares)
    yield Chart("time")
    unit = report.timeline.unit
    over_time = tuple((str(b.start), *_row(b.counts)) for b in report.timeline.buckets)
    yield Table(f"Decisions by {unit} (UTC)", (_since(unit), *head[1:]), over_time)


def _since(unit: str) -> str:
    return unit if unit == "day" else f"{unit} from"


def _row(counts: Counts) -> tuple[Cell, ...]:
    return (counts.let_through, counts.blocked, counts.flagged, counts.total)


def _share(counts: Counts) -> tuple[Cell, ...]:
    numbers = (counts.let_through, counts.blocked, counts.flagged, counts.total)
    return ("Share", *(percent(n, counts.total) for n in numbers))


def _reasons(report: LogReport) -> Iterator[Block]:
    yield Heading("Why")
    total = report.decisions.total
    rows = tuple(
        (r.outcome.value, r.code, r.count, percent(r.count, total), r.meaning)
        for r in report.reasons
    )
    if rows:
        yield Table("Reasons", ("outcome", "reason", "decisions", "share", "it means"), rows)
    else:
        yield Paragraph("No decision, so no reason.")


def _blocked(report: LogReport) -> Iterator[Block]:
    blocked = report.blocked
    yield Heading("Blocked facts and the evidence against them")
    if not blocked.total:
        yield Paragraph("Nothing was blocked.")
        return
    left_out = [
        f"{plural(blocked.total, 'fact was', 'facts were')} blocked; the newest "
        f"{len(blocked.shown)} with a text are shown."
    ]
    if blocked.without_text:
        left_out.append(
            f"Of {blocked.without_text:,} there is no text: it was recorded without a user, or "
            "it was erased."
        )
    if blocked.withheld:
        left_out.append(
            f"{blocked.withheld:,} hold a credential or an identity number and are not shown."
        )
    yield Paragraph(" ".join(left_out))
    yield from (_example(example) for example in blocked.shown)


def _example(example: Example) -> Details:
    scores = ", ".join(f"{name} {value:.3f}" for name, value in sorted(example.scores.items()))
    return Details(
        f"Entry {example.seq}: {example.verdict}, {example.reason_code}",
        (
            ("Fact", example.fact, True),
            ("Evidence", example.evidence or "(no sentence of the source)", bool(example.evidence)),
            ("Source", example.source, True),
            ("Why", example.reason or example.meaning, bool(example.reason)),
            ("When", moment(example.at), False),
            ("Scores", scores or "-", False),
            ("Policy", example.policy[:_SHORT], False),
        ),
    )


def _reviews(report: LogReport) -> Iterator[Block]:
    reviews = report.reviews
    yield Heading("Waiting for a person")
    yield Paragraph(
        f"In the period {reviews.opened:,} were opened, {reviews.approved:,} approved and "
        f"{reviews.rejected:,} rejected. {reviews.open:,} are open when this report is made."
    )
    if not reviews.shown:
        return
    head = ("id", "opened", "days", "reason", "it means", "fact")
    rows = tuple(
        (r.id, day(r.opened_at), r.days, r.reason_code, r.meaning, r.text) for r in reviews.shown
    )
    yield Table(f"Open reviews, the oldest {len(rows)} of {reviews.open:,}", head, rows)
    counted = tuple(reviews.by_reason.items())
    yield Table("Open reviews by reason", ("reason", "open"), counted)


def _rest(report: LogReport) -> Iterator[Block]:
    yield Heading("Erasures")
    erased = report.erasures
    if erased.total:
        yield Paragraph(
            f"{plural(erased.total, 'erasure', 'erasures')}, naming {erased.memories:,} ids; "
            f"{erased.whole_users:,} of them of everything about a user. The texts are gone; the "
            "entries stay, and say nothing about what they were."
        )
    else:
        yield Paragraph("None in this period.")
    yield Heading("Everything that was recorded")
    found = report.evaluations
    if found.passed + found.failed + found.imported:
        yield Paragraph(
            f"Scored answers: {found.passed:,} passed, {found.failed:,} failed. Imported from "
            f"other logs: {found.imported:,}, of which {found.imported_unverified:,} unverified."
        )
    rows = tuple(report.actions.items())
    yield Table("Entries by kind", ("kind", "entries"), (*rows, ("all", report.entries)))


def _reading() -> Iterator[Block]:
    yield Heading("How to read this")
    yield Bullets(
        (
            "Let through: the source states the fact (STORE), or a new fact may stand beside or "
            "replace what is known (ACCEPT).",
            "Blocked: the source states something else (REJECT), or what is known stays (BLOCK).",
            "Flagged: neither; a person decides, nothing was remembered until then (REVIEW).",
            "A decision recorded unchanged can still be wrong: the log shows what was decided, "
            "by which rules and on what evidence, so that somebody can judge it.",
            "Figures count decisions, not facts: one statement can be checked and adjudicated.",
        )
    )

"""What a report comes to, in a few sentences."""

from __future__ import annotations

from datetime import datetime

from service.usecases.report_model import Counts, LogReport

_DAYS_WAITING = 7


def summary(report: LogReport) -> tuple[str, ...]:
    """Return the sentences that a reader in a hurry should see, the most important first."""
    said = [_integrity(report), _decided(report)]
    if report.blocked.total:
        said.append(_why_blocked(report))
    said += [_reviews(report), _policies(report)]
    if report.erasures.total:
        times = plural(report.erasures.total, "erasure was", "erasures were")
        said.append(f"{times} carried out on request; the log shows that, not what was erased.")
    if report.evaluations.imported:
        said.append(_imported(report))
    return tuple(said)


def period(report: LogReport) -> str:
    """Return the period of a report in words."""
    start = day(report.since) if report.since else "the first entry"
    end = day(report.until) if report.until else "the last entry"
    return f"from {start} to {end}"


def day(moment: datetime) -> str:
    """Return a time as it is read, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def moment(ts: str) -> str:
    """Return the time of an entry as it is read, to the second."""
    return f"{ts[:19].replace('T', ' ')} UTC"


def percent(part: int, whole: int) -> str:
    """Return a share, ``-`` of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def plural(count: int, one: str, many: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {one if count == 1 else many}"


def _integrity(report: LogReport) -> str:
    found = report.verification
    if not found.ok:
        return (
            f"THE LOG DOES NOT VERIFY ({found.reason}): nothing in this report can be relied on "
            "until it is known why."
        )
    signed = report.checkpoint is not None and report.checkpoint.size
    anchor = "with signed checkpoints" if signed else "without any signed checkpoint"
    return (
        f"The log verifies: {found.verified:,} of {found.total:,} entries of all tenants are "
        f"linked and unchanged, {anchor}. What that does not exclude is said below."
    )


def _decided(report: LogReport) -> str:
    found: Counts = report.decisions
    if not found.total:
        return f"No decision was recorded {period(report)}."
    return (
        f"{plural(found.total, 'decision was', 'decisions were')} recorded {period(report)}: "
        f"{found.let_through:,} let through ({percent(found.let_through, found.total)}), "
        f"{found.blocked:,} blocked ({percent(found.blocked, found.total)}), "
        f"{found.flagged:,} flagged for review ({percent(found.flagged, found.total)})."
    )


def _why_blocked(report: LogReport) -> str:
    reasons = [r for r in report.reasons if r.outcome.value == "blocked"]
    first = reasons[0]
    return (
        f"The most frequent reason for blocking was “{first.code}” "
        f"({first.count:,} of {report.blocked.total:,}): {first.meaning}"
    )


def _reviews(report: LogReport) -> str:
    reviews = report.reviews
    if not reviews.open or reviews.oldest_days is None:
        return "No fact waits for a person's judgement."
    late = " Somebody should look at it." if reviews.oldest_days > _DAYS_WAITING else ""
    waiting = plural(reviews.open, "fact waits", "facts wait")
    return (
        f"{waiting} for a person's judgement, the oldest for {reviews.oldest_days:.1f} days.{late}"
    )


def _policies(report: LogReport) -> str:
    changes = len(report.policies) - 1
    if changes <= 0:
        return "One policy was the default throughout."
    return (
        f"The default policy changed {plural(changes, 'time', 'times')}; "
        "the periods and what changed are listed below."
    )


def _imported(report: LogReport) -> str:
    found = report.evaluations
    doubtful = f", {found.imported_unverified:,} of them unverified" * bool(
        found.imported_unverified
    )
    entries = plural(found.imported, "entry was", "entries were")
    return f"{entries} imported from another log{doubtful}; they do not count as decisions here."

"""The part of a report on the log itself: what verifying it found, and what that excludes."""

from __future__ import annotations

from collections.abc import Iterator

from service.adapters.reporting.blocks import Block, Bullets, Heading, Paragraph, Table
from service.audit.report import Level
from service.usecases.report_model import CheckpointStatus, LogReport
from service.usecases.report_summary import day

_LISTED = 20


def trust(report: LogReport) -> Iterator[Block]:
    """Return the blocks on whether the log can be relied on."""
    found = report.verification
    yield Heading("Can this log be relied on?")
    yield Paragraph(
        f"The whole log was verified when this report was made: {found.verified:,} of "
        f"{found.total:,} entries of all tenants are sound; result: {found.reason}.",
        alarm=not found.ok,
    )
    rows = tuple((level.number, level.name, _state(level), _said(level)) for level in found.levels)
    yield Table("What was checked", ("level", "what", "result", "notes"), rows)
    if report.damaged:
        yield Paragraph(f"{report.damaged:,} entries of this tenant cannot be read.", alarm=True)
    yield Heading("What was excluded and what was not", 3)
    yield Bullets(found.statements)
    yield Heading("Signed checkpoints", 3)
    yield from _checkpoint(report.checkpoint)


def _state(level: Level) -> str:
    return {True: "in order", False: "NOT IN ORDER", None: "not checked"}[level.ok]


def _said(level: Level) -> str:
    more = len(level.problems) - _LISTED
    rest = (f"and {more} more",) if more > 0 else ()
    return "; ".join((*level.problems[:_LISTED], *rest, *level.notes))


def _checkpoint(status: CheckpointStatus | None) -> Iterator[Block]:
    if status is None:
        yield Paragraph("Nothing is signed here, so nothing speaks against a rewritten log.")
        return
    if status.problem is not None:
        yield Paragraph(f"No checkpoint is signed: {status.problem}", alarm=True)
    if status.size is None:
        yield Paragraph("There is no checkpoint yet.")
        return
    yield Table(
        "The last checkpoint",
        ("entries", "root", "signed", "entries since"),
        (
            (
                status.size,
                status.root or "",
                day(status.at) if status.at else "-",
                status.uncovered,
            ),
        ),
    )
    yield Paragraph(
        "Keep a copy of it elsewhere: only what is kept outside can show later that the log was "
        "not rewritten together with its checkpoints."
    )

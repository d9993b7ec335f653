"""The part of a report on policies: which was the default when, and what it said."""

from __future__ import annotations

import json
from collections.abc import Iterator

from service.adapters.reporting.blocks import Block, Heading, Paragraph, Table
from service.usecases.report_model import LogReport, PolicyPeriod
from service.usecases.report_summary import moment

_SHORT = 12
_FIELDS = ("field", "value")
_UNKNOWN = "The body of this policy is not known here; the log holds its fingerprint only."


def rules(report: LogReport) -> Iterator[Block]:
    """Return the blocks on policies."""
    yield Heading("Which rules applied")
    head = ("policy", "fingerprint", "from", "until", "decisions in it")
    rows = tuple(
        (_name(p), p.fingerprint[:_SHORT], _from(p), _until(p), p.decisions)
        for p in report.policies
    )
    yield Table("The default policy, period by period", head, rows)
    if report.policies_used:
        used = tuple(
            (
                f"{u.name} {u.version}".strip(),
                u.fingerprint[:_SHORT],
                u.counts.total,
                moment(u.first),
                moment(u.last),
            )
            for u in report.policies_used
        )
        columns = ("policy", "fingerprint", "decisions", "first", "last")
        yield Table("Policies that decisions name", columns, used)
    for number, period in enumerate(report.policies):
        yield from _body(number, period)


def _from(period: PolicyPeriod) -> str:
    return "the start" if period.since is None else moment(period.since)


def _until(period: PolicyPeriod) -> str:
    return "now" if period.until is None else moment(period.until)


def _name(period: PolicyPeriod) -> str:
    return f"{period.name} {period.version}".strip()


def _body(number: int, period: PolicyPeriod) -> Iterator[Block]:
    yield Heading(f"Period {number + 1}: {_name(period)}", 3)
    if period.changes:
        changed = tuple((str(c["field"]), _value(c["a"]), _value(c["b"])) for c in period.changes)
        yield Table("Changed against the period before", ("field", "before", "now"), changed)
    elif period.changes is not None:
        yield Paragraph("Nothing changed against the period before but the version's name.")
    if period.body is None:
        yield Paragraph(_UNKNOWN)
    else:
        rows = tuple((name, _value(value)) for name, value in sorted(period.body.items()))
        yield Table(f"The rules, with the fingerprint {period.fingerprint}", _FIELDS, rows)


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

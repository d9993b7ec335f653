"""Reports on made-up figures: long spans, huge numbers, and texts that try something."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from service.adapters.reporting.charts import nice_ceiling, time_bars
from service.adapters.reporting.data import render_json
from service.adapters.reporting.escaping import as_html, as_markdown
from service.adapters.reporting.markdown import render_markdown
from service.adapters.reporting.page import render_html
from service.audit.chain import genesis, leaf_hash
from service.audit.commitment import commit, new_salt
from service.audit.entry import EntryDraft, format_timestamp, seal
from service.audit.rows import AuditRow, Body
from service.audit.verify import verify
from service.usecases.report_model import LogReport, Reviews
from service.usecases.report_tally import Tally

from .test_report import parse

NASTY = (
    '</td></table><script>alert(1)</script> | `x` \n\n# Heading\n<img src=x onerror="y"> '
    "[click](javascript:alert(1)) https://evil.example www.evil.example ![i](x) &lt; \\| \u202e "
    "\x00\x1b[31m \ud800 שלום 彼女 🎉 " + "long" * 1_000
)
START = datetime(2026, 1, 31, 23, 30, tzinfo=UTC)


def entry(moment: datetime, verdict: str, code: str = "contradicted", text: str | None = None):
    names = ("fact", "source", "evidence") if text else ()
    bodies = {name: Body(new_salt(), text or "") for name in names}
    draft = EntryDraft(
        kind="check.decided",
        actor="default:key",
        subject="sub_1" if text else None,
        decision={"id": "chk_1", "verdict": verdict, "reason_code": code, "scores_e6": {"x": 1}},
        policy="0" * 64,
        commitments={
            n: commit(b.salt, b.text.encode("utf-8", "surrogateescape")) for n, b in bodies.items()
        }
        if text and "\ud800" not in text
        else {},
    )
    sealed = seal(draft, log="log", seq=0, ts=format_timestamp(moment), prev=genesis("log"))
    return AuditRow(0, sealed.data, leaf_hash(sealed.data), bodies), sealed


def tallied(*given: tuple[AuditRow, object], examples: int = 5) -> Tally:
    tally = Tally(examples)
    for row, sealed in given:
        tally.feed(row, sealed)
    return tally


def report(tally: Tally) -> LogReport:
    return LogReport(
        tenant=NASTY[:80].replace("\ud800", ""),
        origin="log",
        made_at=START,
        since=None,
        until=None,
        first=tally.first,
        last=tally.last,
        entries=tally.entries,
        damaged=0,
        actions=dict(tally.actions),
        checks=next(iter(tally.by_kind.values())),
        adjudications=next(iter(tally.by_kind.values())),
        timeline=tally.timeline(),
        reasons=tally.reasons(),
        blocked=tally.blocked(),
        reviews=Reviews(0, None, {}, (), 0, 0, 0),
        policies=(),
        policies_used=tally.uses({}),
        erasures=tally.erasures(),
        evaluations=tally.evaluations(),
        checkpoint=None,
        verification=verify([], origin="log", head=None),
    )


@pytest.mark.parametrize(
    ("days", "unit", "bars"),
    [(0, "day", 1), (45, "day", 46), (46, "week", 8), (400, "month", 15), (2_000, "year", 6)],
)
def test_time_is_cut_into_bars_that_can_be_told_apart(days, unit, bars):
    tally = tallied(entry(START, "STORE"), entry(START + timedelta(days=days), "REVIEW"))
    line = tally.timeline()
    assert (line.unit, len(line.buckets)) == (unit, bars)
    assert sum(b.counts.total for b in line.buckets) == 2
    assert line.buckets[0].counts.total >= 1 <= line.buckets[-1].counts.total
    assert time_bars(line).count("<rect") == 2


def test_the_ends_of_time_do_no_harm():
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9_999, 12, 31, tzinfo=UTC)
    line = tallied(entry(first, "STORE"), entry(last, "STORE")).timeline()
    assert len(line.buckets) == 9_999


@pytest.mark.parametrize(("value", "top"), [(0, 2), (3, 5), (10, 10), (11, 20), (9_876_543, 10**7)])
def test_axes_end_at_round_numbers(value, top):
    assert nice_ceiling(value) == top


def test_hostile_texts_stay_texts():
    made = report(tallied(entry(START, "REJECT", text=NASTY), entry(START, "BLOCK", "secret")))
    page = render_html(made)
    found = parse(page)
    assert not {"script", "img", "a"} & set(found.tags)
    text = page.decode()
    assert "\u202e" not in text
    assert "\x00" not in text
    assert "more characters" in text
    assert made.blocked.withheld == 1
    plain = render_markdown(made).decode()
    assert "\n# Heading" not in plain
    assert "<script" not in plain.replace("\\<script", "")
    assert re.search(r"(?<!\\)\]\(", plain) is None
    assert "https://" not in plain
    assert render_json(made)


def test_a_log_that_does_not_verify_is_said_first():
    made = report(tallied(entry(START, "STORE")))
    bad = replace(made, verification=replace(made.verification, ok=False, reason="chain_broken"))
    for rendered in (render_html(bad).decode(), render_markdown(bad).decode()):
        assert rendered.index("does not verify") < rendered.index("Decisions")
        assert "DOES NOT VERIFY (chain" in rendered.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "page", "plain"),
    [
        ("a < b & c", "a &lt; b &amp; c", "a \\< b \\& c"),
        ('"quoted"', "&quot;quoted&quot;", '"quoted"'),
        ("one\ntwo", "one\ntwo", "one two"),
        ("\u2066hidden\u2069", "[U+2066]hidden[U+2069]", "\\[U+2066\\]hidden\\[U+2069\\]"),
        ("👩\u200d🚀", "👩\u200d🚀", "👩\u200d🚀"),
    ],
)
def test_escaping(text, page, plain):
    assert as_html(text) == page
    assert as_markdown(text) == plain

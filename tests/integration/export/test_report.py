"""The report says what the database says, whatever the texts in it try to do."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from html.parser import HTMLParser

import pytest

from service import bootstrap
from service.adapters.db.engine import choose_driver
from service.adapters.exporting.wiring import report_on
from service.adapters.reporting import data, markdown, page
from tests.conftest import running

# The server may run in this process: a second SQLite library here would drop the locks of its own.
sqlite3 = choose_driver().module
VOID = {"meta"}
OUTCOMES = {
    "STORE": "let_through",
    "ACCEPT": "let_through",
    "REJECT": "blocked",
    "BLOCK": "blocked",
    "REVIEW": "flagged",
}


class Strict(HTMLParser):
    """Fails on anything that is not closed, and collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parse(body: bytes) -> Strict:
    parser = Strict()
    parser.feed(body.decode())
    parser.close()
    assert parser.open == []
    return parser


def made(installed, form: str, tenant: str = "acme", period=(None, None)) -> bytes:
    body, sound = report_on(bootstrap.installation(installed.settings), tenant, period, form)
    assert sound
    return body


def rows(installed, query: str):
    connection = sqlite3.connect(installed.settings.data_dir / bootstrap.DATABASE_NAME)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_figures_are_those_of_the_database(installed):
    report = json.loads(made(installed, "json"))
    verdicts = rows(
        installed,
        "SELECT verdict, count(*) FROM entry WHERE tenant = 'acme' AND kind LIKE '%.decided' "
        "GROUP BY verdict",
    )
    expected: Counter[str] = Counter()
    for verdict, count in verdicts:
        expected[OUTCOMES[verdict]] += count
    decisions = report["decisions"]
    assert {k: decisions[k] for k in expected} == dict(expected)
    assert decisions["total"] == sum(expected.values()) >= 10
    assert all(expected.values())
    kinds = dict(
        rows(installed, "SELECT kind, count(*) FROM entry WHERE tenant = 'acme' GROUP BY kind")
    )
    assert report["actions"] == kinds
    assert report["entries"] == sum(kinds.values())
    codes = dict(
        rows(
            installed,
            "SELECT reason_code, count(*) FROM decision WHERE tenant = 'acme' GROUP BY 1",
        )
    )
    counted: Counter[str] = Counter()
    for reason in report["reasons"]:
        counted[reason["code"]] += reason["count"]
        assert reason["meaning"]
    assert counted == codes
    by_day = sum(sum(b["counts"].values()) for b in report["timeline"]["buckets"])
    assert by_day == decisions["total"]
    open_reviews = rows(
        installed, "SELECT count(*) FROM review WHERE tenant = 'acme' AND status = 'open'"
    )
    assert report["reviews"]["open"] == open_reviews[0][0] >= 1
    total = rows(installed, "SELECT count(*) FROM entry")[0][0]
    assert report["verification"]["total"] == total
    assert report["checkpoint"]["size"] == total
    assert report["checkpoint"]["uncovered"] == 0


def test_policies_are_told_period_by_period(installed):
    report = json.loads(made(installed, "json"))
    first, second = report["policies"]
    assert (first["name"], second["name"], second["until"]) == ("default", "strict", None)
    assert first["until"] == second["since"]
    assert second["body"]["store_threshold"] == 0.7
    changed = {c["field"]: (c["a"], c["b"]) for c in second["changes"]}
    assert changed["store_threshold"] == (first["body"]["store_threshold"], 0.7)
    assert set(changed) == {"name", "version", "store_threshold"}
    assert first["decisions"] + second["decisions"] == report["decisions"]["total"]
    assert first["decisions"] > 0 < second["decisions"]
    used = {u["fingerprint"]: sum(u["counts"].values()) for u in report["policies_used"]}
    assert used == {p["fingerprint"]: p["decisions"] for p in (first, second)}


def test_another_tenants_report_has_nothing_of_it(installed):
    text = made(installed, "json", "globex").decode()
    report = json.loads(text)
    assert report["decisions"]["total"] == 1
    assert report["blocked"]["total"] == 0
    assert "Lisbon" not in text
    assert "acme" not in text


def test_blocked_examples_come_with_evidence_and_say_what_is_left_out(installed):
    blocked = json.loads(made(installed, "json"))["blocked"]
    assert blocked["total"] == len(blocked["shown"]) + blocked["without_text"]
    assert blocked["without_text"] == 1  # recorded without a user
    facts = {e["fact"]: e for e in blocked["shown"]}
    loves = facts["The user loves eating peanuts."]
    assert loves["evidence"] in loves["source"] == "I am allergic to peanuts."
    boats = facts["The user owns 8 boats."]
    assert len(boats["source"]) < 1_000
    assert "more characters" in boats["source"]
    assert [e["seq"] for e in blocked["shown"]] == sorted(
        (e["seq"] for e in blocked["shown"]), reverse=True
    )


def test_the_page_is_whole_harmless_and_accessible(installed):
    body = made(installed, "html")
    found = parse(body)
    assert not {"script", "a", "img", "link", "iframe", "form", "object"} & set(found.tags)
    assert "style" not in found.attributes
    assert not [a for a in found.attributes if a.startswith("on")]
    text = "".join(found.text)
    assert '<script>alert("x")</script>' in text  # shown as what it is
    assert "\u202e" not in body.decode()
    assert "[U+202E]" in text
    assert "彼女" not in text  # was flagged, not blocked
    charts = re.findall(r"<svg viewBox=\"0 0 760.*?</svg>", body.decode(), re.DOTALL)
    assert len(charts) == 2
    for chart in charts:
        assert 'role="img"' in chart
        assert "<title id=" in chart
        assert "<desc id=" in chart
    assert found.tags["h1"] == 1
    assert found.tags["caption"] == found.tags["table"] > 5
    assert "NOT excluded" in text


def test_the_bars_are_as_high_as_the_figures(installed):
    report = json.loads(made(installed, "json"))
    body = made(installed, "html").decode()
    day = report["timeline"]["buckets"][0]
    heights = {
        name: float(height)
        for height, name in re.findall(
            rf'height="([\d.]+)" fill="[^"]+"><title>{day["start"]}: \d+ ([a-z ]+)<', body
        )
    }
    counts = day["counts"]
    blocked, through = heights["blocked"], heights["let through"]
    assert blocked / through == pytest.approx(counts["blocked"] / counts["let_through"], rel=0.01)


def test_markdown_has_tables_and_no_markup_of_strangers(installed):
    text = made(installed, "md").decode()
    assert "<script>" not in text.replace("\\<script\\>", "")
    tables = [b for b in text.split("\n\n") if b.startswith("| ")]
    assert len(tables) > 5
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1, table
    assert "I have 2 \\| pipes" in text
    assert "\\`ticks\\`" in text


def test_a_period_cuts_figures(installed):
    whole = json.loads(made(installed, "json"))
    middle = datetime.fromisoformat(whole["policies"][1]["since"])
    early = json.loads(made(installed, "json", period=(None, middle)))
    late = json.loads(made(installed, "json", period=(middle, None)))
    assert early["decisions"]["total"] + late["decisions"]["total"] == whole["decisions"]["total"]
    assert [p["name"] for p in early["policies"]] == ["default"]
    assert [p["name"] for p in late["policies"]] == ["strict"]


def test_a_report_on_nothing_is_still_one(installed):
    for form in ("html", "md", "json"):
        assert made(installed, form, "nobody")
    assert parse(made(installed, "html", "nobody")).tags["svg"] == 0


def test_over_http(installed, parts):
    with running(installed.settings, parts) as live, live.client() as client:
        assert client.get("/audit/report").status_code == 401


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_a_server_answers_with_every_form(client, form):
    answer = client.get("/audit/report", params={"format": form})
    assert answer.status_code == 200, answer.text
    wanted = {"html": page, "md": markdown, "json": data}[form]
    assert answer.headers["content-type"] == wanted.MEDIA_TYPE
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert ("style-src 'sha256-" in policy) == (form == "html")
    assert "unsafe" not in policy


def test_a_period_that_ends_before_it_starts_is_refused(client):
    query = {"since": "2026-02-01", "until": "2026-01-01"}
    assert client.get("/audit/report", params=query).status_code == 422
    assert client.get("/audit/report", params={"format": "pdf"}).status_code == 422

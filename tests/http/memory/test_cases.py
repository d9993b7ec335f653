"""The shared cases of ``/memory``, as a client sees them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "cases" / "memory.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
FAULT = "mem-018"


def content_words(text: str) -> set[str]:
    words = re.findall(r"[\w'-]+", text.lower())
    return set(words) - {"the", "user", "user's", "is", "a"}


def says(text: str, wanted: str) -> bool:
    """Whether a text says what a case wants, in whatever words around it."""
    stems = {w[:4] for w in content_words(text)}
    return all(w[:4] in stems for w in content_words(wanted))


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] != FAULT], ids=lambda c: c["id"])
def test_case(me, case):
    request, expect = case["request"], case["expect"]
    for text in request.get("preexisting", []):
        me.state(text)
    answer = me.post("/memory", {"messages": request["messages"]})
    if case["id"] == "mem-014":
        assert answer.status_code == 422
        return
    body = answer.json()
    assert answer.status_code in (200, 201), answer.text
    new = [r["memory"] for r in body["results"] if r["status"] in ("created", "superseded")]
    texts = [m["text"] for m in new]
    check_stored(me, expect, texts)
    if "http_status" in expect:
        assert answer.status_code == expect["http_status"]
        assert all(s["reason"] for s in body["skipped"])
        assert body["message"]
    if expect.get("kind_of_fact"):
        assert new[0]["type"] == expect["kind_of_fact"]
    for result in body["results"] if "each_result_has" in expect else []:
        assert result["memory"]["id"]
        assert result["text"]
        assert result["check"]["verdict"] == "STORE"
        assert result["check"]["evidence"]["end"] > result["check"]["evidence"]["start"]
    if "event_date_between" in expect:
        first, last = expect["event_date_between"]
        assert first <= new[0]["valid_from"][:10] <= last


def check_stored(me, expect, texts):
    if expect.get("stored") == []:
        assert texts == []
    for wanted in expect.get("stored_any", []):
        assert any(says(t, wanted) for t in texts), texts
    everything = me.texts("all")
    for unwanted in expect.get("not_stored", []):
        assert not any(says(t, unwanted) for t in everything), everything
    if "active_count" in expect:
        assert len(me.memories()) == expect["active_count"]
    for status in ("active", "superseded"):
        for wanted in expect.get(status, []):
            assert any(says(t, wanted) for t in me.texts(status)), me.texts(status)
    if expect.get("history_has_times"):
        old = me.memories("superseded")[0]
        assert old["valid_to"]
        assert old["superseded_at"]


def test_a_write_that_fails_half_way_leaves_everything_as_it_was(me, monkeypatch):  # mem-018
    from service.adapters.db.outbox import SqlOutbox
    from service.domain.errors import Unavailable

    case = next(c for c in CASES if c["id"] == FAULT)
    for text in case["request"]["preexisting"]:
        me.state(text)
    before = me.memories("all")
    entries = me.get("/audit").json()["total"]
    put = SqlOutbox.put

    def fail(self, memory_id):
        put(self, memory_id)
        raise Unavailable("vectors", "it failed")

    monkeypatch.setattr(SqlOutbox, "put", fail)
    answer = me.post("/memory", {"messages": case["request"]["messages"]})
    monkeypatch.undo()
    assert answer.status_code in case["expect"]["http_status_any_of"]
    assert me.memories("all") == before
    assert me.get("/audit").json()["total"] == entries
    assert me.say("My desk is now on floor 4.")["status"] == "superseded"

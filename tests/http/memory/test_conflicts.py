"""Disagreements that people mark and resolve."""

from __future__ import annotations

import pytest


@pytest.fixture
def pair(me):
    return me.state("The user likes tea."), me.state("The user likes chess.")


def mark(me, first, second, **given):
    body = {"first": first["id"], "second": second["id"], "reason": "cannot be", "confidence": 0.8}
    return me.post("/memories/conflicts", {**body, **given})


def test_marking_contests_both(me, pair):
    answer = mark(me, *pair)
    assert answer.status_code == 201
    assert {m["id"] for m in me.memories(contested="true")} == {m["id"] for m in pair}
    listed = me.get("/memories/conflicts").json()
    assert listed["total"] == 1
    item = listed["items"][0]
    assert (item["subject"], item["attribute"], item["confidence"]) == ("user", "likes", 0.8)
    assert mark(me, *reversed(pair)).status_code == 409


def test_resolving_keeps_one(me, pair):
    conflict = mark(me, *pair).json()["id"]
    path = f"/memories/conflicts/{conflict}/resolve"
    answer = me.post(path, {"keep": pair[1]["id"], "reason": "asked"}).json()
    assert (answer["status"], answer["kept"], answer["resolution"]) == (
        "resolved",
        pair[1]["id"],
        "asked",
    )
    assert [m["id"] for m in me.memories()] == [pair[1]["id"]]
    assert me.one(pair[0])["replaced_by"] == pair[1]["id"]
    assert not me.one(pair[1])["contested"]
    assert me.get("/memories/conflicts").json()["total"] == 0
    assert me.get("/memories/conflicts", status="all").json()["total"] == 1
    assert me.post(path, {"keep": "both", "reason": "x"}).status_code == 409


def test_resolving_can_keep_both(me, pair):
    conflict = mark(me, *pair).json()["id"]
    me.post(f"/memories/conflicts/{conflict}/resolve", {"keep": "both", "reason": "fine"})
    assert len(me.memories(contested="false")) == 2


def test_a_conflict_ends_when_one_of_the_two_does(me, pair):
    third = me.state("The user likes jazz.")
    mark(me, *pair)
    mark(me, pair[0], third)
    me.change(pair[1], "retract")
    assert me.one(pair[0])["contested"]
    me.change(third, "retract")
    assert not me.one(pair[0])["contested"]
    assert me.get("/memories/conflicts").json()["total"] == 0
    assert me.get("/audit", action="conflict.resolved").json()["total"] >= 2


def test_bad_requests(me, somebody, pair):
    assert mark(me, pair[0], pair[0]).status_code == 422
    assert mark(me, *pair, confidence=2).status_code == 422
    assert mark(somebody, *pair).status_code == 404
    conflict = mark(me, *pair).json()["id"]
    path = f"/memories/conflicts/{conflict}/resolve"
    assert me.post(path, {"keep": "mem_other", "reason": "x"}).status_code == 422
    assert somebody.post(path, {"keep": "both", "reason": "x"}).status_code == 404

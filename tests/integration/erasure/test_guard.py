"""What was erased does not come back by itself; saying it anew brings it back."""

from __future__ import annotations

import uuid

import pytest

PEANUTS, SHELLFISH = "I am allergic to peanuts.", "I am allergic to shellfish."
LONG_AGO, LATER = "2026-01-05T08:00:00Z", "2031-01-05T08:00:00Z"
FACT = "The user is allergic to peanuts."


def everything(me) -> str:
    return me.export() + str(me.audit(user_id=me.user))


@pytest.mark.parametrize(
    "again",
    [
        {"message": PEANUTS, "observed_at": LONG_AGO},
        {"message": "i am allergic  to PEANUTS", "observed_at": LONG_AGO},
        {"messages": [{"role": "user", "content": PEANUTS, "timestamp": LONG_AGO}]},
        {"message": f"I live in Rome. {PEANUTS}", "observed_at": LONG_AGO},
        {"fact": {"text": FACT, "source": PEANUTS}, "observed_at": LONG_AGO},
        {"fact": {"text": FACT}, "observed_at": LONG_AGO},
    ],
)
def test_a_stale_copy_is_ignored(me, again):
    gone = me.say(PEANUTS, observed_at=LONG_AGO)["memory"]
    me.say(SHELLFISH)
    me.erase(memory_ids=[gone["id"]])
    key = {"Idempotency-Key": uuid.uuid4().hex}
    answer = me.post("/memory", again, **key)
    assert answer.status_code == 200
    assert answer.json()["status"] == "ignored"
    assert answer.json()["reason_code"] == "erased"
    assert answer.json()["turn_ids"] == []
    assert "peanuts" not in answer.text.lower()
    assert "peanuts" not in everything(me).lower()
    assert "Rome" not in everything(me)


@pytest.mark.parametrize("again", [{}, {"observed_at": LATER}])
def test_saying_it_anew_is_remembered(me, again):
    gone = me.say(PEANUTS)["memory"]
    me.erase(memory_ids=[gone["id"]])
    answer = me.say(PEANUTS, **again)
    assert answer["status"] == "created"
    assert answer["memory"]["id"] != gone["id"]


def test_other_old_statements_are_remembered(me):
    gone = me.say(PEANUTS, observed_at=LONG_AGO)["memory"]
    me.erase(memory_ids=[gone["id"]])
    assert me.say(SHELLFISH, observed_at=LONG_AGO)["status"] == "created"


def test_a_dry_run_says_so_too(me):
    gone = me.say(PEANUTS)["memory"]
    me.erase(memory_ids=[gone["id"]])
    assert me.say(PEANUTS, observed_at=LONG_AGO, dry_run=True)["reason_code"] == "erased"


def test_one_stale_turn_of_many(me):
    gone = me.say(PEANUTS)["memory"]
    me.erase(memory_ids=[gone["id"]])
    messages = [
        {"role": "user", "content": PEANUTS, "timestamp": LONG_AGO},
        {"role": "user", "content": "I live in Lisbon.", "timestamp": LONG_AGO},
    ]
    answer = me.post("/memory", {"messages": messages}).json()
    assert [r["status"] for r in answer["results"]] == ["created"]
    assert [s["reason"] for s in answer["skipped"]] == ["erased"]
    assert len(answer["turn_ids"]) == 1
    assert "peanuts" not in everything(me)


@pytest.mark.parametrize("path", ["/check", "/adjudicate"])
def test_a_stale_check_keeps_no_text(me, path):
    gone = me.say(PEANUTS)["memory"]
    me.erase(memory_ids=[gone["id"]])
    pair = {"source": PEANUTS, "fact": FACT, "observed_at": LONG_AGO}
    body = pair if path == "/check" else {"existing": [], "incoming": pair}
    answer = me.post(path, body)
    assert answer.status_code == 200, answer.text
    entry = me.http.get(f"/audit/{answer.json()['audit']['seq']}").json()
    assert entry["texts"] == {}
    assert entry["subject"] is None
    fresh = {**pair, "observed_at": LATER}
    body = fresh if path == "/check" else {"existing": [], "incoming": fresh}
    answer = me.post(path, body).json()
    assert me.http.get(f"/audit/{answer['audit']['seq']}").json()["texts"]


def test_another_user_is_not_touched(me, somebody):
    gone = me.say(PEANUTS, observed_at=LONG_AGO)["memory"]
    me.erase(memory_ids=[gone["id"]])
    assert somebody.say(PEANUTS, observed_at=LONG_AGO)["status"] == "created"


def test_after_everything_old_messages_are_ignored_and_new_ones_are_not(me):
    me.say(PEANUTS)
    before = {e["subject"] for e in me.audit(user_id=me.user)}
    receipt = me.erase(all=True)
    assert receipt["memory_ids"] == []
    assert me.say("I live in Lisbon.", observed_at=LONG_AGO)["reason_code"] == "erased"
    assert me.audit(user_id=me.user) == []
    assert me.say(PEANUTS)["status"] == "created"
    after = {e["subject"] for e in me.audit(user_id=me.user)}
    assert before.isdisjoint(after)
    entries = [e for e in me.audit() if e["subject"] in before]
    assert {e["action"] for e in entries} >= {"memory.created", "check.decided", "erasure.done"}
    assert all(e["texts"] == {} and not e["damaged"] for e in entries)
    assert str(me.export()).count("peanuts") > 0


def test_a_soft_delete_is_no_erasure(me):
    memory = me.say(PEANUTS)["memory"]
    path, params = f"/memory/{memory['id']}", {"user_id": me.user}
    assert me.http.delete(path, params=params).status_code == 200
    assert "peanuts" in me.export()
    me.erase(memory_ids=[memory["id"]])
    assert "peanuts" not in me.export()
    assert me.http.get(path, params=params).status_code == 404


@pytest.mark.parametrize("everything", [False, True])
def test_what_claimed_to_be_said_later_is_stale_until_then(me, everything):
    gone = me.say(PEANUTS, observed_at=LATER)["memory"]
    me.erase(**({"all": True} if everything else {"memory_ids": [gone["id"]]}))
    assert me.say(PEANUTS, observed_at=LATER)["reason_code"] == "erased"
    assert me.say(SHELLFISH, observed_at=LATER)["status"] == "created"
    assert me.say(PEANUTS)["status"] == "created"

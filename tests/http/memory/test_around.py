"""Export, lessons, adjudication, and who may see what."""

from __future__ import annotations

import json

import pytest

from service.usecases.authenticate import Role, new_key


def test_export_holds_everything_about_one_user_and_nothing_of_another(me, somebody):
    me.say("I live in Rome.")
    me.say("I moved to Oslo.")
    first, second = me.state("The user likes tea."), me.state("The user likes chess.")
    body = {"first": first["id"], "second": second["id"], "reason": "r", "confidence": 0.5}
    me.post("/memories/conflicts", body)
    me.post("/memory", {"fact": {"text": "The user plays chess.", "source": "The sky is blue."}})
    me.say("ok thanks")
    me.post("/lessons", {"text": "Ask first.", "evidence": "ABC-12", "applies_to": ["me"]})
    somebody.say("I live in Timbuktu.")
    answer = me.http.get(f"/users/{me.user}/export")
    assert "attachment" in answer.headers["Content-Disposition"]
    held = answer.json()
    assert len(held["turns"]) == 6
    assert len(held["memories"]) == 4
    assert len(held["conflicts"]) == len(held["reviews"]) == len(held["lessons"]) == 1
    assert {e["action"] for e in held["events"]} == {"created", "superseded", "contested"}
    kinds = {e["action"] for e in held["audit"]}
    assert {"check.decided", "adjudication.decided", "memory.created", "review.opened"} <= kinds
    assert held["audit"] and "I live in Rome." in json.dumps(held["audit"])
    assert "Timbuktu" not in answer.text
    assert me.http.get("/users/nobody-at-all/export").json()["memories"] == []


def test_lessons_are_kept_with_evidence(me, somebody):
    topic = f"topic-{me.user}"
    mine = me.post("/lessons", {"text": "Mine.", "evidence": "user said 2026-11-29"}).json()
    body = {"text": "All.", "evidence": "https://example.org/x", "applies_to": [topic]}
    everybody = me.http.post("/lessons", json={"user_id": None, **body})
    assert everybody.status_code == 201
    found = me.http.get("/lessons", params={"applies_to": topic}).json()["items"]
    assert [x["id"] for x in found] == [everybody.json()["id"]]
    assert mine["id"] in {x["id"] for x in me.get("/lessons").json()["items"]}
    assert mine["id"] not in {x["id"] for x in somebody.get("/lessons").json()["items"]}
    assert me.post("/lessons", {"text": "A.", "evidence": "trust me"}).status_code == 422
    secret = {"text": "The password is hunter-22-x", "evidence": "ABC-1"}
    assert me.post("/lessons", secret).status_code == 422


INCOMING = {
    "fact": "The user lives in Lisbon.",
    "source": "I live in Lisbon now.",
    "observed_at": "2026-11-29",
}
EXISTING = {"fact": "The user lives in Porto.", "source": "I live in Porto."}


def test_adjudication_has_every_field_and_both_sources(me, client):
    existing = [{"id": "A", **EXISTING, "observed_at": "2026-01-05"}]
    answer = me.post("/adjudicate", {"existing": existing, "incoming": INCOMING}).json()
    fields = {"verdict", "reason_code", "reason", "incoming", "existing", "policy", "audit"}
    assert fields <= set(answer)
    one = answer["existing"][0]
    assert (one["id"], one["relation"], one["stays_active"]) == ("A", "supersedes", False)
    assert one["statement"]["source"] == EXISTING["source"]
    assert one["statement"]["observed_at"] == "2026-01-05T00:00:00Z"
    entry = client.get(f"/audit/{answer['audit']['seq']}").json()
    assert entry["action"] == "adjudication.decided"
    assert entry["texts"]["source"]["text"] == INCOMING["source"]
    assert EXISTING["source"] in entry["texts"]["result"]["text"]
    assert me.memories("all") == []


def test_adjudication_against_stored_memories(me, somebody):
    porto = me.say("I live in Porto.", observed_at="2026-01-05")["memory"]
    body = {"existing_ids": [porto["id"]], "incoming": INCOMING, "record": False}
    answer = me.post("/adjudicate", body).json()
    assert answer["existing"][0]["id"] == porto["id"]
    assert answer["existing"][0]["relation"] == "supersedes"
    assert answer["audit"] is None
    assert me.one(porto)["status"] == "active"
    assert somebody.post("/adjudicate", body).status_code == 404
    assert me.http.post("/adjudicate", json=body).status_code == 422


def test_adjudication_without_a_user_keeps_no_text(client):
    answer = client.post("/adjudicate", json={"existing": [EXISTING], "incoming": INCOMING})
    entry = client.get(f"/audit/{answer.json()['audit']['seq']}").json()
    assert entry["texts"] == {}
    assert set(answer.json()["audit"]["salts"]) == {"fact", "source", "evidence", "result"}


def test_adjudication_with_nothing_stored(client):
    asked = {"existing": [], "incoming": INCOMING, "record": False}
    answer = client.post("/adjudicate", json=asked)
    assert answer.status_code == 200
    assert answer.json()["verdict"] == "ACCEPT"


@pytest.fixture
def tenants(start_server):
    keys = {t: new_key(t, Role.ADMIN) for t in ("acme", "globex")}
    reader = new_key("acme", Role.READER)
    live = start_server(api_keys=(*(made for _, made in keys.values()), reader[1]))
    live.wait()
    with live.client() as client:
        yield client, {t: {"X-API-Key": k} for t, (k, _) in keys.items()}, reader[0]


def test_tenants_do_not_see_each_other(tenants):
    client, keys, reader = tenants
    said = {"user_id": "ana", "message": "I live in Rome."}
    assert client.post("/memory", json=said, headers={"X-API-Key": reader}).status_code == 403
    made = client.post("/memory", json=said, headers=keys["acme"]).json()
    memory, turn = made["memory"]["id"], made["turn_ids"][0]
    fact = {"text": "The user plays chess.", "source": "The sky is blue."}
    body = {"user_id": "ana", "fact": fact}
    review = client.post("/memory", json=body, headers=keys["acme"]).json()["review_id"]
    for path in (f"/memory/{memory}", f"/memory/{memory}/history", f"/turns/{turn}"):
        params = {"user_id": "ana"}
        assert client.get(path, params=params, headers=keys["acme"]).status_code == 200
        assert client.get(path, params=params, headers=keys["globex"]).status_code == 404
    assert client.get(f"/reviews/{review}", headers=keys["globex"]).status_code == 404
    for path in ("/memories", "/memories/conflicts", "/reviews"):
        found = client.get(path, params={"user_id": "ana"}, headers=keys["globex"]).json()
        assert found["total"] == 0
    held = client.get("/users/ana/export", headers=keys["globex"]).json()
    assert held["turns"] == held["memories"] == held["audit"] == []
    client.put("/attributes/badge", json={"functional": True}, headers=keys["acme"])
    names = {
        a["attribute"]: a["declared"]
        for a in client.get("/attributes", headers=keys["globex"]).json()["items"]
    }
    assert not names.get("badge")
    assert client.get("/audit/verify", headers=keys["acme"]).json()["ok"]

"""Supersede, retract, delete and restore: there is never more than one defined answer."""

from __future__ import annotations

import pytest


def active(me):
    return [m["text"] for m in me.memories()]


def moved(me, memory, town):
    body = {"fact": f"The user lives in {town}.", "source": f"I live in {town}.", "reason": "moved"}
    return me.post(f"/memory/{memory['id']}/supersede", body)


@pytest.fixture
def rome(me):
    return me.state("The user lives in Rome.")


def test_superseding_makes_a_line(me, rome):
    answer = moved(me, rome, "Oslo")
    assert answer.status_code == 201
    oslo = answer.json()["memory"]
    assert answer.json()["superseded_id"] == rome["id"]
    assert oslo["supersedes"] == [rome["id"]]
    assert me.one(rome)["supersession_reason"] == "moved"
    assert active(me) == ["The user lives in Oslo."]


def test_a_superseded_memory_cannot_be_superseded_again(me, rome):
    oslo = moved(me, rome, "Oslo").json()["memory"]
    answer = moved(me, rome, "Lima")
    assert answer.status_code == 409
    assert oslo["id"] in answer.json()["detail"]
    assert active(me) == ["The user lives in Oslo."]


def test_a_replacement_that_the_gate_refuses_changes_nothing(me, rome):
    body = {"fact": "The user has two cats.", "source": "I have nine cats.", "reason": "x"}
    answer = me.post(f"/memory/{rome['id']}/supersede", body)
    assert answer.status_code == 200
    assert answer.json()["status"] == "rejected"
    assert active(me) == ["The user lives in Rome."]


def test_deleting_the_winner_does_not_revive_what_it_replaced(me, rome):
    oslo = moved(me, rome, "Oslo").json()["memory"]
    for _ in range(2):
        answer = me.http.delete(f"/memory/{oslo['id']}", params={"user_id": me.user})
        assert answer.status_code == 200
        assert answer.json()["status"] == "deleted"
    assert active(me) == []
    assert me.one(rome)["status"] == "superseded"
    events = me.get(f"/memory/{oslo['id']}/history").json()["events"]
    assert [e["action"] for e in events].count("deleted") == 1


def test_retracting_the_winner_does_not_revive_what_it_replaced(me, rome):
    oslo = moved(me, rome, "Oslo").json()["memory"]
    assert me.change(oslo, "retract").status_code == 200
    assert me.change(oslo, "retract").status_code == 409
    assert active(me) == []


def test_restoring_a_superseded_memory_supersedes_the_current_one(me, rome):
    oslo = moved(me, rome, "Oslo").json()["memory"]
    lima = moved(me, oslo, "Lima").json()["memory"]
    answer = me.change(rome, "restore").json()
    assert answer["superseded_ids"] == [lima["id"]]
    assert active(me) == ["The user lives in Rome."]
    assert me.one(lima)["replaced_by"] == rome["id"]
    assert me.one(rome)["replaced_by"] is None
    for start in (rome, oslo, lima):  # every line ends at the one answer
        seen, current = set(), me.one(start)
        while current["replaced_by"]:
            assert current["id"] not in seen
            seen.add(current["id"])
            current = me.one({"id": current["replaced_by"]})
        assert current["id"] == rome["id"]


def test_restoring_in_turn_never_leaves_two_answers(me, rome):
    oslo = moved(me, rome, "Oslo").json()["memory"]
    for one in (rome, oslo, rome, oslo):
        assert me.change(one, "restore").status_code == 200
        assert [m["id"] for m in me.memories()] == [one["id"]]
    assert me.change(oslo, "restore").status_code == 409


def test_restoring_a_deleted_memory_supersedes_what_came_after(me, rome):
    me.http.delete(f"/memory/{rome['id']}", params={"user_id": me.user})
    oslo = me.state("The user lives in Oslo.")
    assert me.change(rome, "restore").json()["superseded_ids"] == [oslo["id"]]
    assert active(me) == ["The user lives in Rome."]


def test_restoring_a_retracted_memory_opens_its_interval_again(me, rome):
    me.change(rome, "retract")
    assert me.one(rome)["valid_to"]
    assert me.change(rome, "restore").status_code == 200
    assert me.one(rome)["valid_to"] is None
    assert me.one(rome)["status"] == "active"


def test_every_step_has_its_entry(me, rome, client):
    moved(me, rome, "Oslo")
    me.change(rome, "restore")
    me.change(rome, "retract")
    events = me.get(f"/memory/{rome['id']}/history").json()["events"]
    mine = [e for e in events if e["memory_id"] == rome["id"]]
    assert [e["action"] for e in mine] == ["created", "superseded", "restored", "retracted"]
    for event in events:
        entry = client.get(f"/audit/{event['seq']}").json()
        assert entry["action"] == f"memory.{event['action']}"
        assert entry["canonical"].count(event["memory_id"]) >= 1


@pytest.mark.parametrize("verb", ["supersede", "retract", "restore"])
def test_a_key_is_answered_once(me, rome, verb):
    if verb == "restore":
        me.change(rome, "retract")
    body = {"reason": "because"}
    if verb == "supersede":
        body |= {"fact": "The user lives in Oslo.", "source": "I live in Oslo."}
    path, key = f"/memory/{rome['id']}/{verb}", {"Idempotency-Key": f"{verb}-{me.user}"}
    first = me.post(path, body, **key)
    again = me.post(path, body, **key)
    assert first.status_code in (200, 201)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"


def test_other_peoples_ids_and_unknown_ids_look_alike(me, somebody, rome):
    verbs = {"retract": {}, "restore": {}, "supersede": {"fact": "x", "source": "y"}}
    for memory_id in (rome["id"], "mem_00000000000000000000000000"):
        for path in ("", "/history", "/drift"):
            answer = somebody.get(f"/memory/{memory_id}{path}")
            assert (answer.status_code, answer.json()["detail"]) == (404, "No such memory.")
        for verb, body in verbs.items():
            answer = somebody.post(f"/memory/{memory_id}/{verb}", {"reason": "r", **body})
            assert (answer.status_code, answer.json()["detail"]) == (404, "No such memory.")
        gone = somebody.http.delete(f"/memory/{memory_id}", params={"user_id": somebody.user})
        assert gone.status_code == 404
    turn = somebody.get(f"/turns/{rome['source']['turn_id']}")
    assert turn.status_code == 404
    assert somebody.memories("all") == []

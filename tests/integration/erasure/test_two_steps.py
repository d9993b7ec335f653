"""Plan and confirm: what is refused, what is stale, and what a second time does."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.usecases.authenticate import Role, new_key

PEANUTS = "I am allergic to peanuts."


def test_exactly_one_of_three(me):
    me.say(PEANUTS)
    for asked in ({}, {"all": False}, {"all": True, "turn_ids": ["turn_1"]}, {"memory_ids": []}):
        answer = me.plan(**asked)
        assert answer.status_code == 422, asked


def test_unknown_and_foreign_ids_are_the_same(me, somebody):
    mine = me.say(PEANUTS)
    theirs = somebody.say(PEANUTS)
    unknown = me.plan(memory_ids=["mem_" + "0" * 26])
    foreign = me.plan(memory_ids=[theirs["memory"]["id"]])
    mixed = me.plan(memory_ids=[mine["memory"]["id"], theirs["memory"]["id"]])
    for answer in (foreign, mixed):
        assert answer.status_code == unknown.status_code == 404
        body, expected = answer.json(), unknown.json()
        assert {**body, "request_id": ""} == {**expected, "request_id": ""}
    turns = [me.plan(turn_ids=[t]) for t in ("turn_" + "0" * 26, theirs["turn_ids"][0])]
    assert {t.status_code for t in turns} == {404}
    assert turns[0].json()["detail"] == turns[1].json()["detail"]
    assert (
        me.http.post(
            "/erasures/plan",
            json={"user_id": "nobody-" + uuid.uuid4().hex, "all": True, "reason": "x"},
        ).status_code
        == 404
    )
    assert somebody.texts() == {"The user is allergic to peanuts."}


@pytest.mark.parametrize(
    "reason",
    [
        "about PEANUTS",
        "peanut business",
        "she is allergic to something",
        "i am  allergic to Peanuts",
    ],
)
def test_a_reason_may_not_repeat_what_is_erased(me, reason):
    memory = me.say(PEANUTS)["memory"]
    refused = me.plan(memory_ids=[memory["id"]], reason=reason)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "reason"
    assert "peanut" not in refused.text.lower()


@pytest.mark.parametrize(
    "reason", ["Ticket 4711", "GDPR request by mail, 2026-11-29", "allergy data"]
)
def test_a_reason_in_other_words_is_kept(me, reason):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]], reason=reason, reason_code="consent_withdrawn")
    receipt = me.confirm(plan).json()
    assert receipt["reason"] == reason
    entry = me.http.get(f"/audit/{receipt['tombstones'][0]}").json()
    assert entry["action"] == "erasure.done"
    assert entry["decision"]["reason_code"] == "consent_withdrawn"
    assert reason not in entry["canonical"]


def test_everything_of_a_user_may_not_name_the_user(me):
    me.say("I live in Lisbon.")
    assert me.plan(all=True, reason=f"for {me.user}").status_code == 422


@pytest.mark.parametrize("write", ["message", "check", "silent turn"])
def test_a_write_in_between_makes_the_plan_stale(me, somebody, write):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]])
    somebody.say(PEANUTS)
    if write == "message":
        me.say("I live in Lisbon.")
    elif write == "check":
        me.post("/check", {"source": "I live in Rome.", "fact": "The user lives in Rome."})
    else:
        me.say("What a lovely morning!")
    answer = me.confirm(plan)
    assert answer.status_code == 409
    assert "plan again" in answer.json()["detail"]
    assert memory["text"] in me.texts()
    assert me.erase(memory_ids=[memory["id"]])


def test_reading_in_between_does_not(me):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]])
    receipt = me.recall("What am I allergic to?")["receipt"]["id"]
    assert me.confirm(plan).json()["counts"]["receipts"] == 1
    assert me.http.get(f"/recall/receipts/{receipt}").status_code == 404


def test_another_users_write_does_not(me, somebody):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]])
    somebody.say(PEANUTS)
    assert me.confirm(plan).status_code == 201


def test_twice_is_once(me):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]])
    first, second = me.confirm(plan), me.confirm(plan)
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert me.http.get(f"/erasures/{first.json()['id']}").json() == first.json()
    done = [e for e in me.audit(user_id=me.user) if e["action"] == "erasure.done"]
    assert len(done) == 1


def test_an_unknown_plan_and_an_unknown_receipt(client):
    answer = client.post("/erasures", json={"plan_sha256": "0" * 64})
    assert answer.status_code == 404
    assert client.get("/erasures/era_x").status_code == 404
    assert client.post("/erasures", json={"plan_sha256": "x"}).status_code == 422


def test_idempotency_keys(me):
    memory = me.say(PEANUTS)["memory"]
    key = {"Idempotency-Key": uuid.uuid4().hex}
    asked = {"memory_ids": [memory["id"]], "reason": "user_request"}
    first, again = (me.post("/erasures/plan", asked, **key) for _ in range(2))
    assert first.content == again.content
    assert again.headers["Idempotency-Replayed"] == "true"
    body = {"plan_sha256": first.json()["plan_sha256"]}
    done, replay = (
        me.http.post("/erasures", json=body, headers={"Idempotency-Key": key["Idempotency-Key"]})
        for _ in range(2)
    )
    assert done.content == replay.content
    assert me.post("/erasures/plan", asked, **key).status_code == 409  # it held the text


def test_roles_and_tenants(start_server):
    keys = {
        name: new_key(tenant, role)
        for name, tenant, role in (
            ("writer", "acme", Role.WRITER),
            ("admin", "acme", Role.ADMIN),
            ("reader", "acme", Role.READER),
            ("other", "globex", Role.ADMIN),
        )
    }
    live = start_server(api_keys=tuple(made for _, made in keys.values()))
    live.wait()

    def headers(name):
        return {"X-API-Key": keys[name][0]}

    with live.client() as http:
        told = {"user_id": "ana", "message": PEANUTS}
        mine = http.post("/memory", json=told, headers=headers("writer")).json()["memory"]
        theirs = http.post("/memory", json=told, headers=headers("other")).json()["memory"]
        asked = {"user_id": "ana", "memory_ids": [mine["id"]], "reason": "user_request"}
        for name in ("reader", "writer"):
            assert http.post("/erasures/plan", json=asked, headers=headers(name)).status_code == 403
        foreign = http.post("/erasures/plan", json=asked, headers=headers("other"))
        assert foreign.status_code == 404
        plan = http.post("/erasures/plan", json=asked, headers=headers("admin")).json()
        body = {"plan_sha256": plan["plan_sha256"]}
        assert http.post("/erasures", json=body, headers=headers("other")).status_code == 404
        assert http.post("/erasures", json=body, headers=headers("writer")).status_code == 403
        done = http.post("/erasures", json=body, headers=headers("admin")).json()
        assert done["status"] == "erased"
        path = f"/erasures/{done['id']}"
        assert http.get(path, headers=headers("reader")).json()["status"] == "erased"
        assert http.get(path, headers=headers("other")).status_code == 404
        kept = http.get(
            f"/memory/{theirs['id']}", params={"user_id": "ana"}, headers=headers("other")
        )
        assert kept.json()["text"] == theirs["text"]


def test_many_at_once_are_one(me):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]])
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: me.confirm(plan), range(6)))
    assert {a.status_code for a in answers} == {201}
    assert len({a.json()["id"] for a in answers}) == 1
    assert me.http.get(f"/erasures/{answers[0].json()['id']}").json()["status"] == "erased"
    assert len([e for e in me.audit(user_id=me.user) if e["action"] == "erasure.done"]) == 1


def test_writers_at_once_either_come_before_or_make_it_stale(me):
    memory = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[memory["id"]])
    with ThreadPoolExecutor(6) as pool:
        writes = [pool.submit(me.say, f"My friend Ann{n} lives in Rome.") for n in range(5)]
        answer = pool.submit(me.confirm, plan).result()
        for write in writes:
            write.result()
    assert answer.status_code in (201, 409)
    assert ("peanuts" in me.export()) is (answer.status_code == 409)

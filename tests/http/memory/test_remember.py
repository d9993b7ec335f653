"""POST /memory: what a client that only talks will see."""

from __future__ import annotations

import pytest

OBSERVED = "2026-09-01T10:00:00Z"


def test_the_canonical_story(me):
    told = [
        me.say(text, observed_at=OBSERVED)
        for text in (
            "I use Arch Linux.",
            "I'm building a Next.js app.",
            "My project deadline is October 15.",
            "Actually, the deadline moved to November 2.",
            "ok thanks",
        )
    ]
    assert [t["status"] for t in told] == ["created"] * 3 + ["superseded", "ignored"]
    assert told[3]["superseded_id"] == told[2]["memory"]["id"]
    old = me.one(told[2]["memory"])
    assert old["status"] == "superseded"
    assert old["replaced_by"] == told[3]["memory"]["id"]
    assert old["valid_to"] == told[3]["memory"]["valid_from"]
    assert told[4]["memory"] is None
    assert told[4]["skipped"] == [{"text": "ok thanks", "reason": "small_talk"}]
    assert len(me.memories()) == 3


def test_the_answer_has_every_field_of_the_contract(me):
    answer = me.post("/memory", {"message": "I use Arch Linux."})
    assert answer.status_code == 201
    body = answer.json()
    assert {
        "status",
        "message",
        "memory",
        "superseded_id",
        "results",
        "skipped",
        "turn_ids",
    } <= set(body)
    result = body["results"][0]
    assert {"status", "memory", "superseded_ids", "hotspots", "review_id", "check"} <= set(result)
    assert {"adjudication", "reason_code", "text"} <= set(result)
    fields = """id user_id agent_id session_id text type subject attribute value importance status
        replaced_by supersedes supersession_reason valid_from valid_to observed_at recorded_at
        updated_at expires_at source evidence verdict decision_id policy_fingerprint contested drift
        metadata""".split()
    assert set(fields) <= set(body["memory"])
    assert body["memory"]["drift"] == "MATCH"
    source = body["memory"]["source"]
    turn = me.get(f"/turns/{source['turn_id']}").json()
    assert turn["text"][source["start"] : source["end"]] == source["text"]
    assert source["content_hash"] == turn["content_hash"]


def test_somebody_else_retires_nothing(me):
    me.say("I use Arch Linux.")
    answer = me.say("My brother uses Windows.")
    assert answer["status"] == "created"
    assert answer["memory"]["subject"] != "user"
    assert len(me.memories()) == 2


def test_tastes_stand_beside_each_other(me):
    me.say("I like pizza.")
    assert me.say("I like sushi.")["status"] == "created"
    assert len(me.memories()) == 2


def test_a_retraction_retires_what_it_names(me):
    arch = me.say("I use Arch Linux.")["memory"]
    me.say("I use PostgreSQL.")
    answer = me.say("I no longer use Arch Linux.")
    assert answer["status"] == "retracted"
    assert answer["memory"]["id"] == arch["id"]
    assert answer["results"][0]["retracted_ids"] == [arch["id"]]
    gone = me.one(arch)
    assert (gone["status"], gone["valid_to"] is not None) == ("retracted", True)
    assert len(me.memories()) == 1


def test_a_retraction_of_what_was_never_known_says_so(me):
    answer = me.say("I no longer use Arch Linux.")
    assert (answer["status"], answer["reason_code"]) == ("ignored", "nothing_to_retract")
    assert me.memories("all") == []


def test_back_again_keeps_both_intervals(me):
    first = me.say("I live in Rome.", observed_at="2020-01-01")["memory"]
    second = me.say("I moved to Paris.", observed_at="2022-05-01")["memory"]
    third = me.say("Moved back to Rome.")["memory"]
    assert [m["id"] for m in me.memories()] == [third["id"]]
    assert third["value"] == "Rome"
    assert [me.one(m)["status"] for m in (first, second)] == ["superseded"] * 2
    assert me.one(first)["valid_to"] == "2022-05-01T00:00:00Z"
    story = me.get("/memories/history", subject="user").json()
    assert [m["id"] for m in story["items"]] == [first["id"], second["id"], third["id"]]
    line = me.get(f"/memory/{first['id']}/history").json()
    assert [m["id"] for m in line["items"]] == [first["id"], second["id"], third["id"]]


def test_saying_it_again_confirms_and_doubles_nothing(me):
    first = me.say("I live in Rome.")["memory"]
    again = me.post("/memory", {"message": "I live in Rome."})
    assert again.status_code == 200
    assert again.json()["status"] == "confirmed"
    assert again.json()["memory"]["id"] == first["id"]
    assert len(me.memories("all")) == 1
    events = me.get(f"/memory/{first['id']}/history").json()["events"]
    assert [e["action"] for e in events] == ["created", "confirmed"]


def test_a_conversation_is_weighed_in_order(me):
    answer = me.post(
        "/memory",
        {
            "messages": [
                {"role": "user", "content": "My project deadline is October 15."},
                {"role": "assistant", "content": "The deadline is December 24."},
                {"role": "user", "content": "Actually, the deadline moved to November 2."},
            ]
        },
    ).json()
    assert [r["status"] for r in answer["results"]] == ["created", "superseded"]
    assert [s["reason"] for s in answer["skipped"]] == ["assistant"]
    assert len(answer["turn_ids"]) == 3
    assert len(me.memories()) == 1


def test_a_dry_run_writes_nothing(me, client):
    before = client.get("/audit").json()["total"]
    answer = me.post("/memory", {"message": "I live in Rome.", "dry_run": True})
    assert answer.status_code == 200
    assert answer.json()["status"] == "created"
    assert answer.json()["memory"]["text"] == "The user lives in Rome."
    assert answer.json()["turn_ids"] == []
    assert me.memories("all") == []
    assert client.get("/audit").json()["total"] == before


def test_another_language_is_kept_as_a_turn(me):
    answer = me.say("Ich wohne in Berlin und arbeite als Lehrer an einer Schule.")
    assert answer["status"] == "ignored"
    assert answer["skipped"][0]["reason"] == "unsupported_language"
    assert me.get(f"/turns/{answer['turn_ids'][0]}").json()["language"] == "de"


def test_a_secret_reaches_no_table(me, server):
    told = me.say("I live in Rome. My password is hunter-22-x! I like tea.")
    assert {r["text"] for r in told["results"]} == {
        "The user lives in Rome.",
        "The user likes tea.",
    }
    assert "secret" in {s["reason"] for s in told["skipped"]}
    stated = me.post(
        "/memory",
        {"fact": {"text": "The user's password is hunter-22-x"}},
        **{"Idempotency-Key": f"secret-{me.user}"},
    )
    assert stated.json()["status"] == "rejected"
    assert stated.json()["reason_code"] == "secret"
    assert "hunter" not in stated.text
    for path in server.database.parent.iterdir():
        if path.is_file():
            assert b"hunter-22-x" not in path.read_bytes(), path


def test_a_fact_with_a_source_passes_the_gate_against_it(me):
    good = me.state("The user works as a nurse.", source="I work as a nurse in Leeds.")
    assert good["source"]["text"] in "I work as a nurse in Leeds."
    wrong = me.post(
        "/memory", {"fact": {"text": "The user has three cats.", "source": "I have two cats."}}
    ).json()
    assert wrong["status"] == "rejected"
    unsure = me.post(
        "/memory", {"fact": {"text": "The user plays chess.", "source": "The sky is blue."}}
    ).json()
    assert unsure["status"] == "review"
    assert unsure["review_id"].startswith("rev_")
    assert len(me.memories("all")) == 1


@pytest.mark.parametrize(
    "text", ["The user prefers tea.", "The user's brother uses Windows.", "Alice works at Acme."]
)
def test_a_fact_without_a_source_is_the_clients_own_statement(me, text):
    memory = me.state(text, metadata={"from": "crm", "n": [1, 2.5, None]}, importance=1)
    assert memory["source"]["text"] == text
    assert memory["evidence"].startswith("user said ")
    assert memory["metadata"] == {"from": "crm", "n": [1, 2.5, None]}


def test_subject_attribute_and_value_make_a_sentence(me):
    fact = {"subject": "user.brother", "attribute": "favourite_editor", "value": "Vim"}
    memory = me.post("/memory", {"fact": fact}).json()["memory"]
    assert memory["text"] == "The user's brother's favourite editor is Vim."
    assert (memory["subject"], memory["attribute"], memory["value"]) == tuple(fact.values())


@pytest.mark.parametrize("name", ["favourite_mascot", "favourite_editor", "current_plan"])
def test_a_declared_attribute_holds_one_value(me, client, name):
    put = client.put(f"/attributes/{name}", json={"functional": True})
    assert put.json() == {"attribute": name, "functional": True, "declared": True}
    fact = {"subject": "user", "attribute": name}
    me.post("/memory", {"fact": {**fact, "value": "the fox"}})
    second = me.post("/memory", {"fact": {**fact, "value": "the owl"}}).json()
    assert second["status"] == "superseded"
    assert [m["value"] for m in me.memories(attribute=name)] == ["the owl"]
    listed = client.get("/attributes").json()
    assert name in {a["attribute"] for a in listed["items"]}


def test_scopes_are_kept_and_anded(me):
    me.say("I live in Rome.", agent_id="a1", session_id="s1")
    assert len(me.memories(agent_id="a1", session_id="s1")) == 1
    assert me.memories(agent_id="a1", session_id="s2") == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": "a", "fact": {"text": "b"}},
        {"messages": "I collect old maps."},
        {"messages": []},
        {"message": " "},
        {"fact": {"text": None}},
        {"fact": {"subject": "user", "attribute": "home"}},
        {"fact": {"text": "The user lives in Rome.", "evidence": "trust me"}},
        {"fact": {"text": "The user lives in Rome.", "importance": 2}},
        {"fact": {"text": "A.", "valid_from": "2026-01-02", "valid_to": "2026-01-01"}},
        {"message": "I live in Rome.", "policy": "no-such-policy"},
        {"fact": {"text": "The user lives in Rome.", "metadata": {"big": 2**60}}},
    ],
)
def test_bad_requests_are_422_and_write_nothing(me, body):
    answer = me.post("/memory", body)
    assert answer.status_code == 422, answer.text
    assert me.memories("all") == []


def test_without_a_user_nothing_is_read_or_written(client):
    assert client.post("/memory", json={"message": "I live in Rome."}).status_code == 422
    for path in (
        "/memories",
        "/memory/mem_1",
        "/memory/mem_1/history",
        "/memory/mem_1/drift",
        "/memories/history?subject=user",
        "/memories/conflicts",
        "/memories/drift",
        "/turns/turn_1",
    ):
        assert client.get(path).status_code == 422, path
    assert client.delete("/memory/mem_1").status_code == 422
    for verb in ("retract", "restore"):
        answer = client.post(f"/memory/mem_1/{verb}", json={"reason": "x"})
        assert answer.status_code == 422


def test_lists_filter_and_page(me):
    for town in ("Rome", "Oslo", "Lima"):
        me.state(f"The user likes {town}.")
    first = me.get("/memories", limit=2).json()
    rest = me.get("/memories", limit=2, cursor=first["next_cursor"]).json()
    found = [m["value"] for m in first["items"] + rest["items"]]
    assert found == ["Lima", "Oslo", "Rome"]
    assert first["total"] == 3
    assert rest["next_cursor"] is None
    assert [m["value"] for m in me.memories(q="oslo")] == ["Oslo"]
    assert me.memories(attribute="home") == []
    assert me.memories(contested="true") == []


def test_metrics_count_outcomes(me, client):
    me.say("ok thanks")
    assert 'groundkeeper_memories_total{status="ignored"}' in client.get("/metrics").text


def test_repeating_oneself_in_one_message_is_saying_it_once(me):
    answer = me.say("I live in Rome. " + "I like tea. " * 300)
    assert [r["text"] for r in answer["results"]] == [
        "The user lives in Rome.",
        "The user likes tea.",
    ]

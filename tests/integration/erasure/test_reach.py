"""What a plan names, what it takes with it, and what stays."""

from __future__ import annotations

import uuid

import pytest

PEANUTS, SHELLFISH = "I am allergic to peanuts.", "I am allergic to shellfish."
SAME = {"peanuts": "The user is allergic to peanuts.", "fish": "The user is allergic to shellfish."}


def ids(planned: list[dict]) -> list[str]:
    return [one["id"] for one in planned]


def test_another_statement_in_another_turn_stays(me, somebody):
    gone, stays = me.say(PEANUTS)["memory"], me.say(SHELLFISH)["memory"]
    theirs = somebody.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[gone["id"]])
    assert ids(plan["targets"]) == [gone["id"]]
    assert ids(plan["turns"]) == [gone["source"]["turn_id"]]
    assert plan["collateral"] == plan["duplicates"] == plan["lineage"] == []
    assert theirs["id"] not in str(plan)
    assert somebody.user not in str(plan)
    receipt = me.confirm(plan).json()
    assert receipt["status"] == "erased", receipt
    assert receipt["memory_ids"] == [gone["id"]]
    assert me.texts() == {stays["text"]}
    assert somebody.texts() == {theirs["text"]}
    assert theirs["id"] not in str(receipt)


def test_what_comes_from_the_same_turn_needs_consent(me):
    answer = me.say(f"{PEANUTS} {SHELLFISH}")
    first, second = (r["memory"] for r in answer["results"])
    kept = me.say("I live in Lisbon.")["memory"]
    plan = me.planned(memory_ids=[first["id"]])
    assert ids(plan["collateral"]) == [second["id"]]
    refused = me.confirm(plan)
    assert refused.status_code == 409
    assert "1 other memory" in refused.json()["detail"]
    assert me.texts() == {first["text"], second["text"], kept["text"]}
    assert me.confirm(plan, consent=True).json()["status"] == "erased"
    assert me.texts() == {kept["text"]}


def test_the_text_of_collateral_stays_where_it_was_said_again(me):
    answer = me.say(f"{PEANUTS} I have a dog named Rex.")
    again = me.say("I have a dog named Rex.")
    assert again["status"] == "confirmed"
    receipt = me.erase(consent=True, memory_ids=[answer["results"][0]["memory"]["id"]])
    assert receipt["counts"]["memories"] == 2
    assert "named Rex" in me.export()
    assert "peanuts" not in me.export()


def test_what_says_the_same_goes_too(me):
    first = me.say(PEANUTS)["memory"]
    me.say("Listen: I am allergic to peanuts!")
    me.tell(("assistant", "You said: I am allergic to peanuts."), ("user", "I live in Lisbon."))
    plan = me.planned(memory_ids=[first["id"]])
    assert len(plan["turns"]) == 3
    me.confirm(plan)
    assert "peanuts" not in me.export()
    assert me.texts() == {"The user lives in Lisbon."}


def test_the_same_fact_in_other_words_is_a_duplicate(me):
    first = me.state("The user is vegetarian.", subject="user", attribute="diet", value="Vegan")
    other = me.state("No meat for them.", subject="user", attribute="diet", value=" vegan ")
    if other["id"] == first["id"]:
        pytest.skip("confirmed instead of stored")
    plan = me.planned(memory_ids=[first["id"]])
    assert ids(plan["duplicates"]) == [other["id"]]


def test_a_turn_takes_its_memories(me):
    answer = me.say(f"{PEANUTS} {SHELLFISH}")
    plan = me.planned(turn_ids=answer["turn_ids"])
    assert {m["text"] for m in plan["targets"]} == set(SAME.values())
    assert plan["collateral"] == []
    assert me.confirm(plan).json()["counts"]["memories"] == 2
    assert me.texts() == set()


def test_a_turn_from_which_nothing_came_can_go(me):
    turn = me.tell(("user", "Good morning, what a grey day it is over here!"))["turn_ids"]
    receipt = me.erase(turn_ids=turn)
    assert receipt["counts"]["turns"] == 1
    entry = me.http.get(f"/audit/{receipt['tombstones'][0]}").json()
    assert receipt["id"] in entry["canonical"]
    assert turn[0] not in entry["canonical"]


def test_lineage_is_told_and_nothing_comes_back_by_itself(me):
    old = me.say("I live in Lyon.")["memory"]
    new = me.say("I moved to Porto.")["memory"]
    plan = me.planned(memory_ids=[new["id"]])
    assert plan["lineage"] == [
        {
            "memory_id": old["id"],
            "status": "superseded",
            "relation": "replaced_by",
            "erased_id": new["id"],
        }
    ]
    me.confirm(plan)
    history = me.http.get(f"/memory/{old['id']}/history", params={"user_id": me.user})
    assert history.status_code == 200
    assert me.recall("Where do I live?")["memories"] == []
    back = me.post(f"/memory/{old['id']}/restore", {"reason": "it is true again"})
    assert back.status_code == 200, back.text
    assert me.recall("Where do I live?")["memories"][0]["id"] == old["id"]


def test_erasing_what_was_replaced_leaves_what_replaced_it(me):
    old = me.say("I live in Lyon.")["memory"]
    new = me.say("I moved to Porto.")["memory"]
    plan = me.planned(memory_ids=[old["id"]])
    assert [(x["memory_id"], x["relation"]) for x in plan["lineage"]] == [(new["id"], "supersedes")]
    me.confirm(plan)
    assert "Lyon" not in me.export()
    assert me.recall("Where do I live?")["memories"][0]["id"] == new["id"]


def test_the_turn_that_ended_a_memory_takes_its_words_along(me):
    used = me.say("I use Windows.")["memory"]
    ended = me.say("I no longer use Windows.")
    assert ended["status"] == "retracted"
    plan = me.planned(turn_ids=ended["turn_ids"])
    assert plan["restated"] == [used["id"]]
    assert plan["targets"] == plan["collateral"] == []
    assert me.confirm(plan).json()["status"] == "erased"
    assert "no longer use" not in me.export()
    memory = me.http.get(f"/memory/{used['id']}", params={"user_id": me.user}).json()
    assert memory["status"] == "retracted"
    assert memory["supersession_reason"] == "(erased)"
    assert memory["drift"] == "MATCH"


def test_a_conflict_goes_and_the_other_side_is_no_longer_contested(me):
    first, second = me.say("I like tea.")["memory"], me.say("I like coffee.")["memory"]
    marked = me.post(
        "/memories/conflicts",
        {"first": first["id"], "second": second["id"], "reason": "odd", "confidence": 0.5},
    )
    assert marked.status_code == 201, marked.text
    plan = me.planned(memory_ids=[first["id"]])
    assert plan["conflicts"] == [marked.json()["id"]]
    me.confirm(plan)
    left = me.http.get(f"/memory/{second['id']}", params={"user_id": me.user}).json()
    assert left["contested"] is False
    params = {"user_id": me.user, "status": "all"}
    assert me.http.get("/memories/conflicts", params=params).json()["total"] == 0


def test_reviews_and_lessons_that_hold_the_text_go(me):
    waiting = me.post(
        "/memory",
        {"fact": {"text": "The user owns a boat named Nadezhda.", "source": "Hello there."}},
    ).json()
    assert waiting["status"] == "review", waiting
    lesson = me.post(
        "/lessons",
        {
            "text": "Careful: I am allergic to peanuts, she wrote.",
            "evidence": "https://example.org/1",
            "applies_to": ["meals"],
        },
    ).json()
    other = me.post(
        "/lessons",
        {"text": "Ask first.", "evidence": "https://example.org/2", "applies_to": ["meals"]},
    ).json()
    gone = me.say(PEANUTS)["memory"]
    plan = me.planned(memory_ids=[gone["id"]])
    assert plan["lessons"] == [lesson["id"]]
    assert plan["reviews"] == []
    me.confirm(plan)
    lessons = me.http.get("/lessons", params={"user_id": me.user}).json()["items"]
    assert other["id"] in ids(lessons)
    assert lesson["id"] not in ids(lessons)
    receipt = me.erase(turn_ids=waiting["turn_ids"])
    assert receipt["counts"]["reviews"] == 1
    assert "Nadezhda" not in me.export()


def test_checks_and_adjudications_lose_the_text_and_keep_their_entries(me):
    checked = me.post("/check", {"source": PEANUTS, "fact": SAME["peanuts"]}).json()
    unrelated = me.post(
        "/check", {"source": "I live in Rome.", "fact": "The user lives in Rome."}
    ).json()
    gone = me.say(PEANUTS)["memory"]
    weighed = me.post(
        "/adjudicate",
        {
            "existing_ids": [gone["id"]],
            "incoming": {"fact": "The user likes tea.", "source": "I like tea."},
        },
    ).json()
    plan = me.planned(memory_ids=[gone["id"]])
    seqs = {d["seq"]: d["texts"] for d in plan["decisions"]}
    assert len(seqs[checked["audit"]["seq"]]) == 4
    assert unrelated["audit"]["seq"] not in seqs
    assert "result" in seqs[weighed["audit"]["seq"]]
    me.confirm(plan)
    for seq in seqs:
        entry = me.http.get(f"/audit/{seq}").json()
        assert entry["damaged"] is False
        assert entry["commitments"]
        assert "peanuts" not in str(entry["texts"])
    assert len(me.http.get(f"/audit/{unrelated['audit']['seq']}").json()["texts"]) == 4


def test_receipts_and_stored_answers_go(me):
    key = {"Idempotency-Key": uuid.uuid4().hex}
    gone = me.post("/memory", {"message": PEANUTS}, **key).json()["memory"]
    me.say(SHELLFISH)
    found = me.recall("What am I allergic to?")["receipt"]["id"]
    asked = me.post("/recall", {"query": PEANUTS}).json()["receipt"]["id"]
    other = me.post("/recall", {"query": "Where do I live?"}).json()["receipt"]["id"]
    plan = me.planned(memory_ids=[gone["id"]])
    assert plan["counts"]["answers"] == 1
    assert plan["counts"]["receipts"] == 2
    me.confirm(plan)
    for receipt, status in ((found, 404), (asked, 404), (other, 200)):
        assert me.http.get(f"/recall/receipts/{receipt}").status_code == status
    replayed = me.post("/memory", {"message": PEANUTS}, **key)
    assert replayed.status_code == 409
    assert "erased" in replayed.json()["detail"]
    assert me.texts() == {SAME["fish"]}


@pytest.mark.parametrize(
    ("statement", "spelled"),
    [
        ("用户对花生过敏，请记住这一点。", "用户对花生过敏"),
        ("Der Nutzer wohnt in Zürich-Höngg.", "Zürich-Höngg"),
        ("Użytkownik mieszka w Łodzi na Piotrkowskiej.", "Łodzi"),
        ('The user said "I\'m\tfine"\nand left.', "I'm"),
    ],
)
def test_other_scripts_and_characters(me, somebody, statement, spelled):
    value = {"subject": "user", "attribute": "note", "value": statement}
    stated = {"fact": {"text": statement, **value}}
    mine = me.post("/memory", stated).json()
    theirs = somebody.post("/memory", stated).json()
    kept = me.say("I live in Lisbon.")["memory"]
    if mine["status"] == "review":
        me.erase(turn_ids=mine["turn_ids"])
    else:
        me.erase(memory_ids=[mine["memory"]["id"]])
    assert spelled not in me.export()
    assert me.texts() == {kept["text"]}
    assert spelled in somebody.export()
    assert theirs["turn_ids"]

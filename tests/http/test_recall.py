"""``POST /recall``, receipts and their verification over HTTP."""

import uuid

import pytest


@pytest.fixture
def user(client):
    name = f"user-{uuid.uuid4().hex[:8]}"
    for message in (
        "I use Arch Linux.",
        "My project deadline is October 15.",
        "Actually, the deadline moved to November 2.",
    ):
        answer = client.post("/memory", json={"user_id": name, "message": message})
        assert answer.status_code == 201, answer.text
    return name


def ask(client, user, query, **given):
    answer = client.post("/recall", json={"user_id": user, "query": query, **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_canonical_queries(client, user):
    found = ask(client, user, "What OS does the user use?")
    assert "Arch" in found["memories"][0]["text"]
    assert found["reason"] == "found"
    assert found["abstained"] is False
    deadline = ask(client, user, "When is the project deadline?")["memories"]
    assert "November 2" in deadline[0]["text"]
    assert not any("October 15" in m["text"] for m in deadline)
    food = ask(client, user, "What is the user's favourite food?")
    assert food["memories"] == []
    assert food["abstained"] is True
    assert food["reason"] == "nothing_above_threshold"
    assert 0 <= food["best_score"] < food["threshold"]


def test_every_field_is_there(client, user):
    memory = ask(client, user, "What OS does the user use?")["memories"][0]
    stored = client.get(f"/memory/{memory['id']}", params={"user_id": user}).json()
    assert stored.items() <= memory.items()
    assert set(memory["components"]) >= {"semantic", "lexical", "importance"}
    assert memory["superseded_by"] is None
    assert memory["drift"] == "MATCH"


def test_history_is_reachable_and_marked(client, user):
    found = ask(client, user, "When is the deadline?", include_superseded=True)["memories"]
    assert {m["status"] for m in found} == {"active", "superseded"}
    scores = [m["score"] for m in found]
    assert scores == sorted(scores, reverse=True)


def test_a_receipt_over_http(client, user):
    receipt = ask(client, user, "What OS does the user use?")["receipt"]
    assert client.get(f"/recall/receipts/{receipt['id']}").json() == receipt
    verify = lambda r: client.post("/recall/verify", json={"receipt": r}).json()  # noqa: E731
    assert verify(receipt) == {"verified": True, "status": "verified", "differences": []}
    client.post("/memory", json={"user_id": user, "message": "My laptop runs OpenBSD."})
    assert verify(receipt)["verified"] is True
    edited = verify(receipt | {"query": "Which editor?"})
    assert edited["verified"] is False
    assert "query" in [d["field"] for d in edited["differences"]]
    assert ask(client, user, "OS?", receipt=False)["receipt"] is None
    assert client.get("/recall/receipts/rcp_unknown").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"query": "x"},
        {"user_id": "u"},
        {"user_id": "", "query": "x"},
        {"user_id": "u", "query": "  "},
        {"user_id": "u", "query": "x", "top_k": 0},
        {"user_id": "u", "query": "x", "top_k": -1},
        {"user_id": "u", "query": "x", "threshold": 1.5},
        {"user_id": "u", "query": "x", "types": ["secret"]},
        {"user_id": "u", "query": "x", "as_of": "yesterday"},
        {"user_id": "u", "query": "x", "agentid": "typo"},
        {"user_id": "u", "query": "x", "policy": "no-such-policy"},
    ],
)
def test_bad_requests(client, body):
    answer = client.post("/recall", json=body)
    assert answer.status_code == 422, answer.text


def test_nobody_known(client):
    found = ask(client, "nobody-at-all", "Where do I live?")
    assert (found["reason"], found["memories"], found["receipt"]) == ("scope_unknown", [], None)


@pytest.mark.parametrize("receipt", [{}, {"schema": "x"}, {"scope": [], "options": {}}])
def test_what_is_no_receipt(client, receipt):
    assert client.post("/recall/verify", json={"receipt": receipt}).status_code == 422


def test_the_same_key_gives_the_same_answer(client, user):
    body, headers = {"user_id": user, "query": "my OS"}, {"Idempotency-Key": uuid.uuid4().hex}
    first, second = (client.post("/recall", json=body, headers=headers) for _ in range(2))
    assert first.json() == second.json()
    other = client.post("/recall", json=body | {"top_k": 1}, headers=headers)
    assert other.status_code == 409


def test_lessons_are_recalled_by_their_type(client, user):
    lesson = {
        "user_id": user,
        "text": "Never deploy the payment service on a Friday.",
        "evidence": "user said 2026-01-01",
        "applies_to": ["deploy"],
    }
    assert client.post("/lessons", json=lesson).status_code == 201
    query = "When must we not deploy the payment service?"
    found = ask(client, user, query, types=["lesson"])["memories"]
    assert [(m["type"], m["text"]) for m in found] == [("lesson", lesson["text"])]

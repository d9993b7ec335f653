"""POST /evaluate and POST /hook."""

from __future__ import annotations

import json
import uuid

import pytest

CONTEXT = "Refunds are available within 30 days of purchase."
ASKED = {"question": "When are refunds available?", "context": CONTEXT, "answer": CONTEXT}


def evaluate(client, **changed: object) -> dict:
    answer = client.post("/evaluate", json={**ASKED, **changed})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_faithful_answer_passes_and_says_what_was_not_measured(client):
    found = evaluate(client)
    assert found["passed"]
    assert found["verdict"] == "STORE"
    assert found["toxicity"] is None
    assert "not measured" in found["notes"][0]
    assert "not measured" in found["summary"]
    expected = (0.5 * found["faithfulness"] + 0.3 * found["relevance"]) / 0.8
    assert found["overall"] == pytest.approx(expected, abs=1e-5)


def test_a_wrong_number_fails_however_relevant(client):
    wrong = "Refunds are available within 90 days of purchase."
    found = evaluate(
        client, answer=wrong, weights={"faithfulness": 0.0, "relevance": 0.8, "safety": 0.2}
    )
    assert found["overall"] == pytest.approx(found["relevance"], abs=1e-5)
    assert found["overall"] > 0.6
    assert not found["passed"]
    assert found["reason_code"] == "number_mismatch"


@pytest.mark.parametrize(
    "weights",
    [
        {"faithfulness": 0.5, "relevance": 0.5, "safety": 0.5},
        {"faithfulness": 0.0, "relevance": 0.0, "safety": 1.0},
        {"faithfulness": -1.0, "relevance": 1.0, "safety": 1.0},
        {"kindness": 1.0},
    ],
)
def test_weights_that_make_no_sense(client, weights):
    assert client.post("/evaluate", json={**ASKED, "weights": weights}).status_code == 422


def test_it_is_recorded_as_an_evaluation(client):
    user = uuid.uuid4().hex
    found = evaluate(client, user_id=user)
    entry = client.get(f"/audit/{found['audit']['seq']}").json()
    assert entry["action"] == "evaluation.recorded"
    assert entry["decision"]["id"] == found["evaluation_id"]
    assert entry["decision"]["verdict"] == "PASSED"
    assert entry["texts"]["fact"]["text"] == CONTEXT
    assert json.loads(entry["texts"]["result"]["text"])["question"] == ASKED["question"]
    assert client.get("/memories", params={"user_id": user}).json()["total"] == 0
    assert client.get("/audit/verify").json()["ok"]
    assert evaluate(client, record=False)["audit"] is None


def test_without_a_user_no_text_is_kept_but_salts_are_handed_out(client):
    found = evaluate(client)
    assert set(found["audit"]["salts"]) == {"fact", "source", "evidence", "result"}
    assert client.get(f"/audit/{found['audit']['seq']}").json()["texts"] == {}


def test_the_same_key_answers_the_same(client):
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    first = client.post("/evaluate", json=ASKED, headers=headers)
    again = client.post("/evaluate", json=ASKED, headers=headers)
    assert again.content == first.content
    assert again.headers["Idempotency-Replayed"] == "true"


def test_limits_name_the_field(client):
    answer = client.post("/evaluate", json={**ASKED, "answer": "x" * 2_001})
    assert answer.status_code == 413
    assert answer.json()["errors"][0]["field"] == "answer"
    unknown = client.post("/evaluate", json={**ASKED, "policy": "none"})
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (422, "policy")


@pytest.mark.parametrize(
    ("source", "candidate", "verdict", "decided"),
    [
        ("I moved to Lisbon in March.", "The user lives in Lisbon.", "accepted", "STORE"),
        ("I am allergic to peanuts.", "The user loves eating peanuts.", "rejected", "REJECT"),
        ("My brother is a lawyer.", "The user is a lawyer.", "uncertain", "REVIEW"),
    ],
)
def test_the_hook_answers_in_three_words(client, source, candidate, verdict, decided):
    asked = {
        "candidate": candidate,
        "source_text": source,
        "metadata": {"user_id": "hook", "engine": "mem0", "nested": {"any": [1]}},
    }
    answer = client.post("/hook", json=asked)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["verdict"], found["decision"]["verdict"]) == (verdict, decided)
    assert found["reason"]
    assert found["decision"]["audit"]["seq"] >= 0


def test_the_hook_names_what_is_wrong(client):
    asked = {"candidate": "The user sails.", "source_text": "I sail."}
    bad = client.post("/hook", json={**asked, "metadata": {"speaker": "nobody"}})
    assert bad.status_code == 422
    assert bad.json()["errors"][0]["field"] == "metadata.speaker"
    unknown = client.post("/hook", json={**asked, "metadata": {"policy": "none"}})
    assert unknown.json()["errors"][0]["field"] == "metadata.policy"
    quiet = client.post("/hook", json={**asked, "metadata": {"record": False}}).json()
    assert quiet["decision"]["audit"] is None

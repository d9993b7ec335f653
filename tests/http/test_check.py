"""POST /check and /check/batch as a client sees them."""

from __future__ import annotations

import uuid

import pytest

ASKED = {"source": "I work as a nurse in Leeds.", "fact": "The user works as a nurse."}


def entries(client, **query):
    return client.get("/audit", params=query).json()


def test_answer_has_every_field_of_the_contract(client):
    answer = client.post("/check", json={**ASKED, "user_id": uuid.uuid4().hex})
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {
        "verdict",
        "reason_code",
        "reason",
        "evidence",
        "scores",
        "signals",
        "policy",
        "models",
        "audit",
        "decision_id",
    }
    assert set(body["policy"]) == {"name", "version", "fingerprint"}
    assert set(body["models"]) == {"nli", "embedder"}
    assert set(body["audit"]) == {"seq", "entry_hash", "checkpoint"}
    assert {"entailment", "neutral", "contradiction", "faithfulness", "relatedness"} <= set(
        body["scores"]
    )
    assert body["decision_id"].startswith("chk_")


def test_evidence_points_into_the_source_in_code_points(client):
    source = "🦊 Çà va. I work as a nurse in Leeds. It rains."
    body = client.post("/check", json={**ASKED, "source": source}).json()
    evidence = body["evidence"]
    assert source[evidence["start"] : evidence["end"]] == evidence["text"]


def test_evidence_points_into_the_joined_messages(client):
    body = client.post(
        "/check",
        json={
            "messages": [
                {"role": "assistant", "content": "What do you do?"},
                {"role": "user", "content": "I work as a nurse in Leeds."},
            ],
            "fact": ASKED["fact"],
            "record": False,
        },
    ).json()
    assert body["source"] == "What do you do?\nI work as a nurse in Leeds."
    evidence = body["evidence"]
    assert body["source"][evidence["start"] : evidence["end"]] == evidence["text"]


def test_decomposed_text_is_normalised(client):
    user = uuid.uuid4().hex
    asked = {"source": "I love cafe\u0301s.", "fact": "The user loves cafe\u0301s."}
    client.post("/check", json={**asked, "user_id": user})
    texts = entries(client, user_id=user)["items"][0]["texts"]
    assert texts["source"]["text"] == "I love cafés."


def test_record_false_records_nothing(client):
    before = entries(client)["total"]
    body = client.post("/check", json={**ASKED, "record": False}).json()
    assert body["audit"] is None
    assert entries(client)["total"] == before


def test_without_user_no_text_is_kept_but_the_salts_are_handed_out(client):
    body = client.post("/check", json=ASKED).json()
    assert set(body["audit"]["salts"]) == {"fact", "source", "evidence", "result"}
    entry = client.get(f"/audit/{body['audit']['seq']}").json()
    assert entry["texts"] == {}
    assert entry["subject"] is None
    assert ASKED["fact"] not in str(entry)


def test_entry_in_the_log_is_the_decision_that_was_answered(client):
    body = client.post("/check", json={**ASKED, "user_id": uuid.uuid4().hex}).json()
    entry = client.get(f"/audit/{body['audit']['seq']}").json()
    assert entry["entry_hash"] == body["audit"]["entry_hash"]
    assert entry["decision"]["id"] == body["decision_id"]
    assert entry["decision"]["verdict"] == body["verdict"]
    assert entry["policy"] == body["policy"]["fingerprint"]
    assert entry["models"] == body["models"]
    assert entry["texts"]["fact"]["text"] == ASKED["fact"]


def test_same_question_same_answer(client):
    first, second = (client.post("/check", json={**ASKED, "record": False}) for _ in range(2))
    differing = {"decision_id"}
    assert {k: v for k, v in first.json().items() if k not in differing} == {
        k: v for k, v in second.json().items() if k not in differing
    }


def test_batch_answers_in_order_as_single_checks_would(client):
    items = [
        {**ASKED, "record": False},
        {"source": "I have two cats.", "fact": "The user has three cats.", "record": False},
        {"source": "The sky is blue.", "fact": "The user plays chess.", "record": False},
    ]
    together = client.post("/check/batch", json={"items": items}).json()["items"]
    alone = [client.post("/check", json=item).json() for item in items]
    assert [(a["verdict"], a["reason_code"], a["scores"]) for a in together] == [
        (a["verdict"], a["reason_code"], a["scores"]) for a in alone
    ]


def test_batch_records_all_or_nothing(client):
    before = entries(client)["total"]
    items = [{**ASKED}, {**ASKED, "policy": "no-such-policy"}]
    assert client.post("/check/batch", json={"items": items}).status_code == 422
    assert entries(client)["total"] == before


@pytest.mark.parametrize(
    "given", ["2026-01-05", "2026-01-05T10:00:00Z", "2026-01-05T10:00:00+05:30"]
)
def test_times_with_an_offset_and_plain_dates_are_accepted(client, given):
    answer = client.post("/check", json={**ASKED, "observed_at": given, "record": False})
    assert answer.status_code == 200


def test_request_id_is_echoed_and_a_bad_one_replaced(client):
    sent = client.get("/health", headers={"X-Request-ID": "abc-123"})
    assert sent.headers["X-Request-ID"] == "abc-123"
    replaced = client.get("/health", headers={"X-Request-ID": "bad id\t<script>"})
    assert replaced.headers["X-Request-ID"].startswith("req_")

"""One Idempotency-Key, one write."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}


@pytest.fixture
def key():
    return {"Idempotency-Key": uuid.uuid4().hex}


def total(client):
    return client.get("/audit").json()["total"]


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        ("/check", ASKED, {**ASKED, "fact": "The user is a baker."}),
        ("/check/batch", {"items": [ASKED, ASKED]}, {"items": [ASKED]}),
        ("/policies", {"name": "kept", "alpha": 0.5}, {"name": "kept", "alpha": 0.6}),
    ],
)
def test_replay_and_mismatch(client, key, path, body, other):
    first = client.post(path, json=body, headers=key)
    after_first = total(client)
    again = client.post(path, json=dict(reversed(body.items())), headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert (again.status_code, again.content) == (first.status_code, first.content)
    mismatch = client.post(path, json=other, headers=key)
    assert mismatch.status_code == 409
    assert mismatch.json()["type"] == "/problems/idempotency-mismatch"
    assert total(client) == after_first


def test_the_same_key_on_another_path_is_another_key(client, key):
    assert client.post("/check", json=ASKED, headers=key).status_code == 200
    batch = client.post("/check/batch", json={"items": [ASKED]}, headers=key)
    assert batch.status_code == 200
    assert "items" in batch.json()


def test_an_error_is_not_kept(client, key):
    assert client.post("/check", json={**ASKED, "policy": "none"}, headers=key).status_code == 422
    assert client.post("/check", json=ASKED, headers=key).status_code == 200


def test_many_at_once_write_one_entry(client, key):
    before = total(client)
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(client.post, "/check", json=ASKED, headers=key) for _ in range(8)]
        answers = [s.result() for s in sent]
    assert {a.status_code for a in answers} == {200}
    assert len({a.content for a in answers}) == 1
    assert total(client) == before + 1

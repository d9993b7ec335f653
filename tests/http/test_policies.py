"""/policies: immutable versions, differences, the default."""

from __future__ import annotations

import pytest

LEGACY = {
    "name": "default",
    "version": "1.0",
    "store_threshold": 0.5,
    "reject_on": ["contradicts"],
    "overwrite_requires_faithful": True,
    "min_relatedness": 0.58,
    "check_attribution": True,
}
ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}


@pytest.fixture
def client(start_server):
    live = start_server()
    live.wait()
    with live.client() as made:
        yield made


def test_the_built_in_policy_is_there_from_the_start(client):
    listed = client.get("/policies").json()
    assert listed["total"] == 1
    only = listed["items"][0]
    assert only["is_default"]
    assert client.get(f"/policies/{only['fingerprint']}").json() == only


def test_a_version_cannot_be_changed(client):
    first = client.post("/policies", json={"name": "strict", "store_threshold": 0.9})
    again = client.post("/policies", json={"name": "strict", "store_threshold": 0.9})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    changed = client.post("/policies", json={"name": "strict", "store_threshold": 0.8})
    assert changed.status_code == 409
    newer = client.post(
        "/policies", json={"name": "strict", "version": "2", "store_threshold": 0.8}
    )
    assert newer.status_code == 201
    assert client.get("/policies").json()["total"] == 3


def test_a_minieval_policy_keeps_its_fingerprint(client):
    made = client.post("/policies", json=LEGACY).json()
    assert made["legacy_fingerprint"] == "e7403d698e00"
    assert client.get(f"/policies/{made['fingerprint']}").json()["legacy_fingerprint"]


def test_difference_names_the_fields(client):
    body = {"name": "strict", "store_threshold": 0.9, "guards": {"secret": "reject"}}
    made = client.post("/policies", json=body).json()
    found = client.get("/policies/diff", params={"a": "default", "b": made["fingerprint"]}).json()
    assert {d["field"]: (d["a"], d["b"]) for d in found["differences"]} == {
        "name": ("default", "strict"),
        "store_threshold": (0.4, 0.9),
        "guards.secret": ("review", "reject"),
    }


def test_the_default_applies_and_its_change_is_in_the_log(client):
    made = client.post("/policies", json={"name": "strict", "store_threshold": 0.9}).json()
    chosen = client.put("/policies/default", json={"fingerprint": made["fingerprint"]})
    assert chosen.status_code == 200
    assert chosen.json()["is_default"]
    answered = client.post("/check", json=ASKED).json()
    assert answered["policy"] == {k: made[k] for k in ("name", "version", "fingerprint")}
    changes = client.get("/audit", params={"action": "policy.changed"}).json()["items"]
    assert [c["policy"] for c in changes] == [made["fingerprint"]] * 2


@pytest.mark.parametrize("reference", ["default", "default@1"])
def test_a_check_can_name_its_policy(client, reference):
    answered = client.post("/check", json={**ASKED, "policy": reference})
    assert answered.json()["policy"]["name"] == "default"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"store_threshold": 1.5}, "store_threshold"),
        ({"store_threshold": "high"}, "store_threshold"),
        ({"store_threshold": True}, "store_threshold"),
        ({"alpha": 0.12345678}, "alpha"),
        ({"nmae": "x"}, "nmae"),
        ({"name": ""}, "name"),
        ({"name": 5}, "name"),
        ({"reject_on": ["supported"]}, "reject_on"),
        ({"reject_on": "contradicted"}, "reject_on"),
        ({"guards": {"secret": "explode"}}, "guards.secret"),
        ({"guards": {"moon": "off"}}, "guards"),
        ({"guards": {"speech_act": "reject"}}, "guards.speech_act"),
        ({"guards": []}, "guards"),
        ({"languages": [1]}, "languages.0"),
        ({"name": "a\ud800"}, "name"),
        ({"name": "a\u0000"}, "name"),
    ],
)
def test_a_bad_policy_is_refused_by_field(client, body, field):
    import json

    answer = client.post(
        "/policies", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422, answer.text
    assert [e["field"] for e in answer.json()["errors"]] == [field]
    assert client.get("/policies").json()["total"] == 1


def test_unknown_policy_is_not_found(client):
    assert client.get("/policies/unknown").status_code == 404
    assert client.get("/policies/diff?a=default&b=unknown").status_code == 404
    assert client.put("/policies/default", json={"fingerprint": "unknown"}).status_code == 404

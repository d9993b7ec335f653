"""Whatever a client sends wrong gets a clear 4xx, and nothing is recorded."""

from __future__ import annotations

import json

import httpx
import pytest

GOOD = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}
JSON = {"Content-Type": "application/json"}


def changed(**fields):
    return {k: v for k, v in {**GOOD, **fields}.items() if v is not ...}


CASES = [
    ("empty fact", changed(fact=""), 422, "fact"),
    ("blank fact", changed(fact=" \n\t "), 422, "fact"),
    ("empty source", changed(source=""), 422, "source"),
    ("blank source", changed(source="\u2003\u00a0 "), 422, "source"),
    ("no fact", changed(fact=...), 422, "fact"),
    ("no source", changed(source=...), 422, "source"),
    ("source and messages", changed(messages=[{"role": "user", "content": "x"}]), 422, "source"),
    ("no messages", changed(source=..., messages=[]), 422, "messages"),
    (
        "role",
        changed(source=..., messages=[{"role": "god", "content": "x"}]),
        422,
        "messages.0.role",
    ),
    ("number as fact", changed(fact=5), 422, "fact"),
    ("null fact", changed(fact=None), 422, "fact"),
    ("list as source", changed(source=["a"]), 422, "source"),
    ("object as source", changed(source={"a": 1}), 422, "source"),
    ("word as record", changed(record="yes"), 422, "record"),
    ("unknown speaker", changed(speaker="robot"), 422, "speaker"),
    ("unknown field", changed(sorce="x"), 422, "sorce"),
    ("naive time", changed(observed_at="2026-01-05T10:00:00"), 422, "observed_at"),
    ("no time", changed(observed_at="yesterday"), 422, "observed_at"),
    ("number as time", changed(observed_at=1767225600), 422, "observed_at"),
    ("impossible date", changed(observed_at="2026-02-30"), 422, "observed_at"),
    ("edge of time", changed(observed_at="0001-01-01T00:00:00+23:59"), 422, "observed_at"),
    ("NUL", changed(fact="a\u0000b"), 422, "fact"),
    ("escape", changed(source="a\u001b[31mb"), 422, "source"),
    ("C1 control", changed(source="a\u0085b"), 422, "source"),
    ("lone surrogate", changed(fact="a\ud800b"), 422, "fact"),
    ("surrogate in name", changed(speaker_name="\udfff"), 422, "speaker_name"),
    ("long user id", changed(user_id="u" * 129), 422, "user_id"),
    ("empty user id", changed(user_id=""), 422, "user_id"),
    ("unknown policy", changed(policy="no-such-policy"), 422, "policy"),
    ("long fact", changed(fact="x" * 2_001), 413, "fact"),
    ("fact over the model's window", changed(fact="word " * 390 + "end"), 413, "fact"),
    ("long source", changed(source="x" * 32_001), 413, "source"),
    ("5,000 sentences", changed(source="This is a sentence. " * 5_000), 413, "source"),
    (
        "201 messages",
        changed(source=..., messages=[{"role": "user", "content": "x"}] * 201),
        413,
        "messages",
    ),
]


def assert_problem(answer: httpx.Response, status: int) -> dict:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert set(body) == {"type", "title", "status", "detail", "errors", "request_id"}
    assert body["status"] == status
    assert body["request_id"] == answer.headers["X-Request-ID"]
    assert "Traceback" not in answer.text
    return body


def total(client: httpx.Client) -> int:
    return client.get("/audit").json()["total"]


@pytest.mark.parametrize(
    ("body", "status", "field"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_bad_field_is_named_and_nothing_recorded(client, body, status, field):
    before = total(client)
    answer = client.post("/check", content=json.dumps(body), headers=JSON)
    problem = assert_problem(answer, status)
    assert field in [e["field"] for e in problem["errors"]]
    assert total(client) == before


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"{'fact': 1}",
        b'{"fact": "\xff\xfe", "source": "x"}',
        b"\xff",
        b'{"fact": ' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"fact": "a\nb", "source": "x"}',
        b"null",
        b"[]",
        b'"text"',
    ],
)
def test_body_that_is_no_json_object(client, content):
    answer = client.post("/check", content=content, headers=JSON)
    assert answer.status_code in (400, 422)
    assert_problem(answer, answer.status_code)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "application/json; charset=latin-1", None]
)
def test_wrong_content_type(client, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    answer = client.post("/check", content=json.dumps(GOOD).encode(), headers=headers)
    assert_problem(answer, 415)


def test_ten_megabytes_are_refused(client):
    before = total(client)
    body = json.dumps({**GOOD, "source": "x" * 10_000_000}).encode()
    assert (
        "2,000,000"
        in assert_problem(client.post("/check", content=body, headers=JSON), 413)["detail"]
    )
    assert total(client) == before


def test_ten_megabytes_without_a_length_are_refused(client):
    def chunks():
        for _ in range(100):
            yield b"x" * 100_000

    try:
        answer = client.post("/check", content=chunks(), headers=JSON)
    except httpx.WriteError:
        return  # refused while it was still being sent
    assert_problem(answer, 413)


def test_unknown_path_and_method(client):
    assert_problem(client.get("/nothing"), 404)
    refused = client.delete("/check")
    assert_problem(refused, 405)
    assert refused.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/audit?limit=0", "limit"),
        ("/audit?limit=201", "limit"),
        ("/audit?limit=many", "limit"),
        ("/audit?cursor=nonsense", "cursor"),
        ("/audit?verdict=MAYBE", "verdict"),
        ("/audit?since=2026-01-05T10:00:00", "since"),
        ("/audit?user_id=", "user_id"),
        ("/audit?user_id=a%00b", "user_id"),
        ("/audit/-1", "seq"),
        ("/audit/one", "seq"),
        ("/audit/99999999999999999999999999", "seq"),
        ("/policies?limit=0", "limit"),
        ("/policies?cursor=nonsense", "cursor"),
        ("/policies/diff?a=default", "b"),
    ],
)
def test_bad_query(client, path, field):
    problem = assert_problem(client.get(path), 422)
    assert [e["field"] for e in problem["errors"]] == [field]


def test_batch_names_the_item(client):
    items = [GOOD, {**GOOD, "fact": " "}]
    problem = assert_problem(client.post("/check/batch", json={"items": items}), 422)
    assert problem["errors"][0]["field"] == "items.1.fact"
    assert_problem(client.post("/check/batch", json={"items": []}), 422)
    assert_problem(client.post("/check/batch", json={"items": [GOOD] * 257}), 413)


@pytest.mark.parametrize("key", ["", "k" * 201, "tab\there"])
def test_bad_idempotency_key(client, key):
    answer = client.post("/check", json=GOOD, headers={"Idempotency-Key": key})
    assert_problem(answer, 422)


def test_unknown_entry(client):
    assert_problem(client.get("/audit/123456789"), 404)

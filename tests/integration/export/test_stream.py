"""GET /audit/export: exactly the hashed bytes, or CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import time
import uuid

import pytest

from service.audit.notes import note_text, parse_checkpoint
from service.audit.tree import verify_inclusion
from service.usecases.export_csv import COLUMNS, safe_cell
from service.usecases.export_log import PAGE

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}


@pytest.fixture
def user(client):
    name = uuid.uuid4().hex
    items = [{**ASKED, "user_id": name}] * 5
    client.post("/check/batch", json={"items": items})
    return name


def test_each_line_is_what_was_hashed(client, user):
    answer = client.get("/audit/export", params={"user_id": user})
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert "attachment" in answer.headers["content-disposition"]
    listed = client.get("/audit", params={"user_id": user}).json()["items"]
    hashes = [
        hashlib.sha256(b"\x00" + line).hexdigest() for line in answer.content.split(b"\n")[:-1]
    ]
    assert hashes == [e["entry_hash"] for e in reversed(listed)]
    assert len(hashes) == 5


def test_conditions(client, user):
    listed = client.get("/audit", params={"user_id": user}).json()["items"]
    newest = listed[0]["ts"]

    def count(**query):
        found = client.get("/audit/export", params={"user_id": user, **query})
        assert found.status_code == 200, found.text
        return found.content.count(b"\n")

    assert count(until=listed[-1]["ts"]) == 0
    assert count(since=newest) == sum(e["ts"] == newest for e in listed)
    assert client.get("/audit/export", params={"user_id": "nobody"}).content == b""
    assert client.get("/audit/export", params={"format": "xml"}).status_code == 422
    wrong = client.get("/audit/export", params={"format": "csv", "proofs": True})
    assert wrong.status_code == 422


def test_more_than_a_page_comes_whole_and_in_order(client):
    name = uuid.uuid4().hex
    items = [{**ASKED, "user_id": name}] * 256
    for _ in range(PAGE // 256 + 1):
        assert client.post("/check/batch", json={"items": items}).status_code == 200
    lines = client.get("/audit/export", params={"user_id": name}).content.split(b"\n")[:-1]
    numbers = [json.loads(line)["seq"] for line in lines]
    assert len(numbers) == 256 * (PAGE // 256 + 1) > PAGE
    assert numbers == sorted(set(numbers))


def last_checkpoint(client):
    return parse_checkpoint(note_text(client.get("/audit/checkpoint").json()["note"]))


def test_proofs_lead_to_the_signed_root(start_server):
    live = start_server(checkpoint={"entries": 1, "seconds": 60.0})
    live.wait()
    with live.client() as client:
        for _ in range(4):
            client.post("/check", json={**ASKED, "user_id": "ana"})
        checkpoint = last_checkpoint(client)
        while checkpoint.size < 5:
            time.sleep(0.02)
            checkpoint = last_checkpoint(client)
        answer = client.get("/audit/export", params={"proofs": True})
        found = [json.loads(line) for line in answer.content.split(b"\n")[:-1]]
        for one in found:
            assert hashlib.sha256(b"\x00" + one["entry"].encode()).hexdigest() == one["leaf"]
            path = [bytes.fromhex(node) for node in one["path"]]
            assert one["size"] == checkpoint.size
            leaf = bytes.fromhex(one["leaf"])
            verify_inclusion(leaf, one["seq"], one["size"], path, checkpoint.root)
        assert len(found) == 4


def test_csv_reads_back_and_holds_no_formula(client):
    name = uuid.uuid4().hex
    fact = '=HYPERLINK("http://x","y")\nThe user, a nurse, said "hi"; 彼女 🎉'
    asked = {"source": "+1 for nurses. I work as a nurse.", "fact": fact, "user_id": name}
    assert client.post("/check", json=asked).status_code == 200
    answer = client.get("/audit/export", params={"user_id": name, "format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.startswith(b"\xef\xbb\xbf")
    assert b"\n" not in answer.content.replace(b"\r\n", b"").replace(b'y"")\nThe', b"")
    head, row = csv.reader(io.StringIO(answer.content.decode("utf-8-sig"), newline=""))
    assert tuple(head) == COLUMNS
    found = dict(zip(head, row, strict=True))
    assert found["fact"] == f"'{fact}"
    assert found["source"] == "'+1 for nurses. I work as a nurse."
    assert found["action"] == "check.decided"
    assert 0 <= float(found["entailment"]) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "  =1",
        "\u200b=1",
        "＝1",
        "＋1",
        "－1",
        "＠x",
    ],
)
def test_formulas_are_defused(text):
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "tea", "I = you", "a@b.c", "'quoted", "3-4", "−5 °C", "彼女"])
def test_other_text_stays(text):
    assert safe_cell(text) == text

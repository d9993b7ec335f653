"""/audit/proof, /audit/consistency, and what /audit/verify says about checkpoints."""

from __future__ import annotations

import uuid

import pytest

from service.audit.chain import leaf_hash
from service.audit.notes import note_text, parse_checkpoint
from service.audit.tree import verify_consistency, verify_inclusion
from service.usecases.authenticate import Role, new_key

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}


@pytest.fixture
def decided(client):
    """Seven decisions; returns their numbers."""
    item = {**ASKED, "user_id": uuid.uuid4().hex}
    answers = client.post("/check/batch", json={"items": [item] * 7}).json()["items"]
    return [answer["audit"]["seq"] for answer in answers]


def get(client, path, **query):
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_entry_can_be_proved_to_be_in_the_log(client, decided):
    for seq in decided:
        proof = get(client, "/audit/proof", seq=seq)
        leaf, root = bytes.fromhex(proof["leaf_hash"]), bytes.fromhex(proof["root"])
        path = [bytes.fromhex(value) for value in proof["path"]]
        verify_inclusion(leaf, seq, proof["size"], path, root)
        entry = get(client, f"/audit/{seq}")
        assert leaf_hash(entry["canonical"].encode()) == proof["leaf_hash"] == entry["entry_hash"]


def test_a_proof_for_an_earlier_size(client, decided):
    seq, size = decided[2], decided[4]
    proof = get(client, "/audit/proof", seq=seq, size=size)
    assert (proof["seq"], proof["size"]) == (seq, size)
    now = get(client, "/audit/consistency", first=size)
    assert now["first_root"] == proof["root"]


def test_the_log_only_grew_since_the_last_checkpoint(client, decided):
    note = client.get("/audit/checkpoint", params={"format": "note"}).text
    kept = parse_checkpoint(note_text(note))
    proof = get(client, "/audit/consistency", first=kept.size)
    path = [bytes.fromhex(value) for value in proof["path"]]
    root = bytes.fromhex(proof["second_root"])
    verify_consistency(kept.size, proof["second"], kept.root, root, path)
    same = get(client, "/audit/consistency", first=kept.size, second=kept.size)
    assert (same["path"], same["first_root"]) == ([], same["second_root"])
    assert get(client, "/audit/consistency", first=0)["path"] == []


def test_what_cannot_be_proved(client, decided):
    size = get(client, "/audit/proof", seq=decided[0])["size"]

    def status(path, **query):
        answer = client.get(path, params=query)
        assert answer.headers["content-type"] == "application/problem+json"
        return answer.status_code

    assert status("/audit/proof", seq=size + 100) == 404
    assert status("/audit/proof", seq=decided[3], size=decided[3]) == 422
    assert status("/audit/proof", seq=decided[3], size=0) == 422
    assert status("/audit/proof", seq=decided[3], size=size + 10**6) == 422
    for seq in (-1, 2**53, "x", ""):
        assert status("/audit/proof", seq=seq) == 422
    assert status("/audit/proof") == 422
    assert status("/audit/consistency") == 422
    assert status("/audit/consistency", first=5, second=4) == 422
    assert status("/audit/consistency", first=2**53 - 1) == 422
    assert status("/audit/consistency", first=1, second=size + 10**6) == 422
    assert status("/audit/consistency", first=-1) == 422


def test_another_tenants_entry_is_the_same_404(start_server):
    (mine, my_entry), (theirs, their_entry) = (new_key(t, Role.WRITER) for t in ("acme", "other"))
    live = start_server(api_keys=(my_entry, their_entry))
    live.wait()
    with live.client(Authorization=f"Bearer {mine}") as client:
        seq = client.post("/check", json=ASKED).json()["audit"]["seq"]
        assert client.get("/audit/proof", params={"seq": seq}).status_code == 200
    with live.client(Authorization=f"Bearer {theirs}") as client:
        foreign = client.get("/audit/proof", params={"seq": seq}).json()
        unknown = client.get("/audit/proof", params={"seq": 10_000}).json()
        assert foreign["status"] == 404
        assert foreign | {"request_id": ""} == unknown | {"request_id": ""}
        assert client.get("/audit/consistency", params={"first": seq}).status_code == 200


def test_verifying_tells_the_checkpoint_and_what_it_means(client, decided):
    report = get(client, "/audit/verify")
    assert report["ok"]
    assert [level["number"] for level in report["levels"]] == [0, 1, 2, 3, 4, 5]
    assert [level["ok"] for level in report["levels"]] == [True, True, True, None, True, True]
    checkpoint = report["checkpoint"]
    assert checkpoint["present"]
    assert checkpoint["fits"]
    assert not checkpoint["outside"]
    assert report["not_excluded"] == ["rewriting", "truncation"]
    assert any("NOT excluded" in statement for statement in report["statements"])
    proof = get(client, "/audit/consistency", first=checkpoint["size"], second=report["total"])
    assert (proof["first_root"], proof["second_root"]) == (checkpoint["root"], report["root"])

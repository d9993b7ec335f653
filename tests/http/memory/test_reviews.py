"""The review queue."""

from __future__ import annotations

import pytest

FACT = {"text": "The user lives in Rome.", "source": "The sky is blue."}


@pytest.fixture
def review(me):
    answer = me.post("/memory", {"fact": FACT})
    assert answer.status_code == 200
    return answer.json()["review_id"]


def test_an_item_opens_and_waits(me, review, client):
    listed = me.get("/reviews").json()
    assert [r["id"] for r in listed["items"]] == [review]
    one = client.get(f"/reviews/{review}").json()
    assert (one["status"], one["user_id"], one["text"]) == ("open", me.user, FACT["text"])
    assert me.memories("all") == []
    assert review in {
        r["id"] for r in client.get("/reviews", params={"limit": 200}).json()["items"]
    }


def test_approval_remembers_with_actor_and_note(me, review, client):
    answer = me.post(f"/reviews/{review}/approve", {"note": "asked her"}).json()
    assert (answer["status"], answer["note"]) == ("approved", "asked her")
    assert answer["closed_by"] == "default:anonymous" or answer["closed_by"]
    assert answer["result"]["memory"]["id"] == answer["memory_id"]
    memory = me.one({"id": answer["memory_id"]})
    assert (memory["text"], memory["status"], memory["verdict"]) == (
        FACT["text"],
        "active",
        "REVIEW",
    )
    entry = me.get("/audit", action="review.approved").json()["items"][0]
    assert review in entry["canonical"]
    assert answer["memory_id"] in entry["canonical"]
    assert me.get("/reviews", status="approved").json()["total"] == 1


def test_approval_weighs_against_what_is_stored_by_then(me, review):
    oslo = me.state("The user lives in Oslo.")
    answer = me.post(f"/reviews/{review}/approve", {"note": "yes"})
    active = [m["text"] for m in me.memories()]
    if answer.status_code == 409:  # what is stored outweighs it; it stays open
        assert active == [oslo["text"]]
        assert me.get(f"/reviews/{review}").json()["status"] == "open"
    else:
        assert answer.json()["result"]["status"] in ("superseded", "created")


def test_approving_what_is_known_by_then_doubles_nothing(me, review):
    known = me.state("The user lives in Rome.")
    answer = me.post(f"/reviews/{review}/approve", {"note": "yes"}).json()
    assert answer["result"]["status"] == "confirmed"
    assert answer["memory_id"] == known["id"]
    assert len(me.memories("all")) == 1


def test_rejection_remembers_nothing_and_is_final(me, review):
    answer = me.post(f"/reviews/{review}/reject", {"note": "no"})
    assert answer.json()["status"] == "rejected"
    for verb in ("approve", "reject"):
        assert me.post(f"/reviews/{review}/{verb}", {"note": "x"}).status_code == 409
    assert me.memories("all") == []
    assert me.get("/audit", action="review.rejected").json()["total"] == 1


def test_a_note_is_required(me, review):
    assert me.post(f"/reviews/{review}/approve", {}).status_code == 422


def test_a_key_is_answered_once(me, review):
    key = {"Idempotency-Key": f"approve-{me.user}"}
    first, again = (me.post(f"/reviews/{review}/approve", {"note": "y"}, **key) for _ in "12")
    assert (
        (again.status_code, again.content)
        == (first.status_code, first.content)
        == (
            200,
            first.content,
        )
    )


def test_another_users_item_is_not_found(me, somebody, review):
    assert somebody.get(f"/reviews/{review}").status_code == 404
    assert somebody.post(f"/reviews/{review}/approve", {"note": "x"}).status_code == 404
    assert somebody.get("/reviews").json()["total"] == 0

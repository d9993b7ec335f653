"""What is over, and somebody else with the same relation, retires nothing that is current."""

from __future__ import annotations

import uuid

import pytest


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("I live in Rome.", "I lived in Oslo in 2010.", "Rome"),
        ("I live in Rome.", "I lived in Oslo before.", "Rome"),
        ("I work at Siemens.", "I worked at Bosch until 2015.", "Siemens"),
        ("My sister Ana lives in Rome.", "My sister Eva lives in Oslo.", "Rome"),
        ("My brother Tim lives in Rome.", "My other brother lives in Oslo.", "Rome"),
    ],
)
def test_the_current_one_stays(client, first, second, kept):
    user = f"user-{uuid.uuid4()}"
    for message in (first, second):
        answer = client.post("/memory", json={"user_id": user, "message": message}).json()
        assert answer["superseded_id"] is None, answer["message"]

    active = client.get("/memories", params={"user_id": user}).json()["items"]
    assert any(kept in memory["text"] for memory in active)


def test_two_things_in_one_sentence_are_two_memories(client):
    user = f"user-{uuid.uuid4()}"
    for message in ("I live in Lisbon and work as a nurse.", "I moved to Porto."):
        client.post("/memory", json={"user_id": user, "message": message})
    active = client.get("/memories", params={"user_id": user}).json()["items"]

    assert any("nurse" in memory["text"] for memory in active)
    assert not any("Lisbon" in memory["text"] for memory in active)

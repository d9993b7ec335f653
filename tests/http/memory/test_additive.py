"""What a speaker adds replaces nothing, even where an attribute holds one value."""

from __future__ import annotations

import uuid


def test_also_keeps_both(client):
    user = f"user-{uuid.uuid4()}"
    for message in ("I use Vim.", "I use Emacs too."):
        answer = client.post("/memory", json={"user_id": user, "message": message})
        assert answer.json()["status"] == "created", answer.text

    listed = client.get("/memories", params={"user_id": user}).json()
    assert listed["total"] == 2

"""Peanuts are erased; shellfish, and another user's peanuts, stay, and nothing tells of them."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest

from service.bootstrap import DATABASE_NAME
from tests.integration.erasure.conftest import Eraser

PEANUTS, SHELLFISH = "I am allergic to peanuts.", "I am allergic to shellfish."
ALONE = "My locker code word is Quetzalcoatlus."
SAYINGS = (
    "I am allergic to peanuts",
    "The user is allergic to peanuts.",
    "the user is allergic to peanuts.",
)


def wait_for_chroma(client) -> None:
    end = time.monotonic() + 60
    while "chroma, generation" not in client.get("/ready").text:
        assert time.monotonic() < end, client.get("/ready").text
        time.sleep(0.05)


def live_occurrences(path, *texts: str) -> int:
    """How often rows hold a text, by SQL; the service is stopped."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        names = [
            r[0] for r in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        cells = (
            str(cell) if isinstance(cell, str) else cell.decode("utf-8", "replace")
            for name in names
            for row in connection.execute(f"SELECT * FROM {name}")
            for cell in row
            if isinstance(cell, str | bytes)
        )
        return sum(cell.count(text) for cell in cells for text in texts)


def vector_of(path, memory_id: str) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT vector FROM embedding WHERE memory_id = ?"
        return connection.execute(query, (memory_id,)).fetchone()[0]


@pytest.mark.slow
def test_peanuts(make_server, hits, capfd):
    first = make_server(vectors={"large": 1})
    with first() as live, live.client() as client:
        live.wait()
        alice, bob = Eraser(client, "alice@example.org"), Eraser(client, "bob@example.org")
        key = {"Idempotency-Key": "alice-1"}
        gone = alice.post("/memory", {"message": PEANUTS}, **key).json()["memory"]
        alone = alice.state(ALONE, source=ALONE)
        stays, theirs = alice.say(SHELLFISH)["memory"], bob.say(PEANUTS)["memory"]
        alice.recall("What am I allergic to?")
        alice.post("/check", {"source": PEANUTS, "fact": "The user is allergic to peanuts."})
        data, keys = live.settings.data_dir, live.settings.key_dir
    database = data / DATABASE_NAME
    vector = vector_of(database, alone["id"])
    assert hits([data], PEANUTS)

    with first() as live, live.client() as client:
        wait_for_chroma(client)
        alice, bob = Eraser(client, alice.user), Eraser(client, bob.user)
        assert hits([data / "index"], gone["id"])
        assert hits([data / "index"], theirs["id"])
        before = bob.export()
        receipt = alice.erase(memory_ids=[gone["id"], alone["id"]])
        assert theirs["id"] not in str(receipt)
        assert bob.user not in str(receipt)
        assert "peanuts" not in alice.export()
        assert alice.texts() == {stays["text"]}
        assert alice.recall("What am I allergic to?")["memories"][0]["id"] == stays["id"]
        everything = (gone["id"], alone["id"], vector, vector[:64])
        assert hits([data / "index", keys], *everything, *SAYINGS) == {}
        assert hits([data, keys], ALONE, "Quetzalcoatlus", "quetzalcoatlus", vector) == {}
        report = client.get("/audit/verify").json()
        assert report["ok"], report
        strip = before.index("exported_at"), before.index("turns")
        now = bob.export()
        assert now[: strip[0]] + now[strip[1] :] == before[: strip[0]] + before[strip[1] :]
        assert bob.recall("What am I allergic to?")["memories"][0]["id"] == theirs["id"]

    written = live_occurrences(database, *SAYINGS)
    assert written
    found = hits([data, keys], *SAYINGS)
    assert found == {DATABASE_NAME: written}, "bytes that are in no row"

    with first() as live, live.client() as client:
        live.wait()
        bob = Eraser(client, bob.user)
        bob.erase(all=True)
        assert hits([data, keys], *SAYINGS, bob.user) == {}
        assert hits([data / "index"], theirs["id"]) == {}
        assert client.get("/audit/verify").json()["ok"]

    printed = capfd.readouterr()
    for text in ("peanuts", "Quetzalcoatlus", "alice@", "bob@"):
        assert text not in printed.out + printed.err

"""The shared cases about erasing, as a client and the files see them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from service.bootstrap import DATABASE_NAME
from tests.integration.erasure.conftest import Eraser
from tests.integration.erasure.test_must_show import wait_for_chroma

FOLDER = Path(__file__).parents[2] / "cases"
CASES = {
    case["id"]: case
    for name in ("audit.jsonl", "ops.jsonl")
    for case in map(json.loads, (FOLDER / name).read_text(encoding="utf-8").splitlines())
}
FACTS = ("I live in Vaduz.", "My dog is called Quasimodo.", "I work as a beekeeper.")


def rows_about(database: Path, memory_id: str) -> dict[str, int]:
    """Rows that name a memory, by table; the log and the receipt of its erasure may."""
    tables = ("memory", "memory_event", "embedding", "outbox", "receipt", "conflict", "turn")
    with closing(sqlite3.connect(database)) as connection:
        return {
            table: sum(
                memory_id in str(row) for row in connection.execute(f"SELECT * FROM {table}")
            )
            for table in tables
        }


def test_erase_and_verify(make_server, hits):
    expect = CASES["aud-007"]["expect"]
    with make_server()() as live, live.client() as client:
        live.wait()
        u1 = Eraser(client, "u1")
        for fact in FACTS:
            u1.say(fact)
        assert len(u1.texts()) == 3
        receipt = u1.erase(all=True)
        report = client.get("/audit/verify").json()
        assert report["ok"] is expect["valid"]
        entry = client.get(f"/audit/{receipt['tombstones'][0]}").json()
        assert (entry["action"] == "erasure.done") is expect["erase_recorded"]
        words = ("Vaduz", "Quasimodo", "beekeeper", "vaduz", "quasimodo")
        found = hits([live.settings.data_dir, live.settings.key_dir], *FACTS, *words)
        assert sum(found.values()) == expect["plaintext_hits"]


def test_the_vector_of_an_erased_memory_attaches_to_nothing(make_server):
    case = CASES["ops-004"]
    start = make_server()
    with start() as live, live.client() as client:
        live.wait()
        u1 = Eraser(client, "u1")
        gone = u1.say(FACTS[1])["memory"]
        assert u1.recall("What is my dog called?")["memories"][0]["id"] == gone["id"]
        u1.erase(memory_ids=[gone["id"]])
    with start() as live, live.client() as client:
        live.wait()
        u1 = Eraser(client, "u1")
        u1.say(FACTS[0])
        found = [m["id"] for m in u1.recall("What is my dog called?")["memories"]]
        assert case["expect"]["results_exclude"] == ["k"]
        assert gone["id"] not in found


def test_all_stores_are_cleaned(make_server, hits):
    expect = CASES["ops-005"]["expect"]
    start = make_server(vectors={"large": 1})
    with start() as live, live.client() as client:
        live.wait()
        gone = Eraser(client, "u1").say(FACTS[1])["memory"]
    with start() as live, live.client() as client:
        wait_for_chroma(client)
        index = live.settings.data_dir / "index"
        assert hits([index], gone["id"])
        Eraser(client, "u1").erase(memory_ids=[gone["id"]])
        assert sum(hits([index], gone["id"]).values()) == expect["vectors"]
    rows = rows_about(live.settings.data_dir / DATABASE_NAME, gone["id"])
    assert sum(rows.values()) == expect["sql"], rows
    assert expect["fts"] == 0  # words are counted from the rows; there is no index of them


@pytest.mark.parametrize("large", [1, 1_000])
def test_a_rebuild_does_not_bring_it_back(make_server, large):
    expect = CASES["ops-007"]["expect"]
    start = make_server(vectors={"large": large})
    with start() as live, live.client() as client:
        live.wait()
        u1 = Eraser(client, "u1")
        gone, kept = u1.say(FACTS[1])["memory"], u1.say(FACTS[0])["memory"]
        u1.erase(memory_ids=[gone["id"]])
    with start() as live, live.client() as client:
        live.wait()
        u1 = Eraser(client, "u1")
        if large == 1:
            wait_for_chroma(client)
        assert u1.recall("What is my dog called?")["memories"] == expect["results"]
        assert u1.recall("Where do I live?")["memories"][0]["id"] == kept["id"]

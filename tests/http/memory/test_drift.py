"""Drift: whatever is edited behind the service's back shows."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import create_engine

from service.adapters.db.engine import choose_driver
from service.adapters.db.memories import SqlMemories
from service.adapters.db.memory_rows import memory_row
from service.adapters.db.repository import Session
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.digests import sealed, text_digest
from service.ports.storage import Scope

DRIVER = choose_driver()


@pytest.fixture
def server(start_server):
    """A server of its own, because its file is spoilt."""
    live = start_server()
    live.wait()
    return live


@pytest.fixture
def client(server):
    with server.client() as made:
        yield made


@pytest.fixture
def rome(somebody):
    """A memory of somebody whose rows a test may spoil."""
    return somebody.say("I live in Rome.")["memory"]


@pytest.fixture
def edit(server):
    """Run statements on the file, past the service but with its own SQLite library (ADR 3)."""

    def edit(*statements):
        with closing(DRIVER.module.connect(str(server.database), timeout=10)) as connection:
            for statement, values in statements:
                connection.execute(statement, values)
            connection.commit()

    return edit


def status(somebody, memory):
    one = somebody.get(f"/memory/{memory['id']}/drift").json()
    whole = somebody.get("/memories/drift").json()
    assert whole["status"] == one["status"]
    assert somebody.one(memory)["drift"] == one["status"]
    wrong = {name for name, value in one["checks"].items() if value != "MATCH"}
    return one["status"], wrong


def test_untouched_is_a_match(somebody, rome):
    somebody.change(rome, "retract")
    somebody.change(rome, "restore")
    assert status(somebody, rome) == ("MATCH", set())


def test_an_edited_text_drifts(somebody, rome, edit):
    edit(("UPDATE memory SET text = 'The user lives in Bonn.' WHERE id = ?", (rome["id"],)))
    assert status(somebody, rome) == ("DRIFT", {"content", "state", "log"})


def test_an_edited_status_drifts(somebody, rome, edit):
    edit(("UPDATE memory SET status = 'superseded' WHERE id = ?", (rome["id"],)))
    assert status(somebody, rome) == ("DRIFT", {"state", "log"})


@pytest.mark.parametrize("column", ["valid_from", "observed_at", "superseded_at"])
def test_an_edited_time_drifts(somebody, rome, edit, column):
    moment = "2020-01-01T00:00:00.000000Z"
    edit((f"UPDATE memory SET {column} = ? WHERE id = ?", (moment, rome["id"])))
    assert status(somebody, rome)[0] == "DRIFT"


def test_an_edited_turn_drifts(somebody, rome, edit):
    turn = rome["source"]["turn_id"]
    edit(("UPDATE turn SET text = 'I live in Bonn.' WHERE id = ?", (turn,)))
    assert status(somebody, rome) == ("DRIFT", {"turn", "offsets"})


def test_shifted_offsets_drift(somebody, rome, edit):
    edit(("UPDATE memory SET origin_start = origin_start + 1 WHERE id = ?", (rome["id"],)))
    assert status(somebody, rome)[0] == "DRIFT"


def test_a_turn_that_is_gone_is_never_a_match(somebody, rome, edit):
    turn = rome["source"]["turn_id"]
    edit(
        ("PRAGMA foreign_keys = OFF", ()),
        ("DELETE FROM turn WHERE id = ?", (turn,)),
    )
    assert status(somebody, rome) == ("UNVERIFIABLE", {"turn", "offsets"})


def test_a_consistent_forgery_is_caught_by_the_log(somebody, rome, edit, server):
    forge(server.database, edit, rome, "Rome", "Bonn")
    found = somebody.one(rome)
    assert found["text"] == "The user lives in Bonn."
    assert status(somebody, rome) == ("DRIFT", {"log"})


def test_a_memory_that_vanished_drifts(somebody, rome, edit):
    edit(
        ("PRAGMA foreign_keys = OFF", ()),
        ("DELETE FROM memory_event WHERE memory_id = ?", (rome["id"],)),
        ("DELETE FROM memory WHERE id = ?", (rome["id"],)),
    )
    whole = somebody.get("/memories/drift").json()
    assert whole["status"] == "DRIFT"
    assert whole["items"][0]["memory_id"] == rome["id"]


def test_an_invented_memory_is_unverifiable_at_best(somebody, rome, edit):
    columns = "tenant, subject_id, text, folded, type, triple_subject, attribute, value, polarity"
    columns += ", importance, status, turn_id, origin_role, origin_text, origin_start, origin_end"
    columns += ", origin_hash, observed_at, recorded_at, updated_at, verdict, policy_fingerprint"
    columns += ", content_hash, state_hash, supersedes, contested, metadata"
    edit(
        (
            f"INSERT INTO memory (id, {columns}) SELECT 'mem_x', {columns} FROM memory "
            "WHERE id = ?",
            (rome["id"],),
        )
    )
    assert status(somebody, {"id": "mem_x"})[0] == "DRIFT"


def forge(database, edit, memory, old, new):
    """Replace a word in a memory and its turn, and make every hash in the tables fit."""
    engine = create_engine(f"sqlite:///{database}", module=DRIVER.module)
    with engine.connect() as connection:
        scope = Scope("default", "forger")
        memories = SqlMemories(Session(connection, scope, SystemClock(), RandomIdentifiers()))
        query = "SELECT subject_id FROM memory WHERE id = ?"
        subject = connection.exec_driver_sql(query, (memory["id"],)).scalar_one()
        stored = memories.get(subject, memory["id"])
        query = "SELECT text FROM turn WHERE id = ?"
        turn = connection.exec_driver_sql(query, (stored.origin.turn_id,)).scalar_one()
    engine.dispose()
    text = turn.replace(old, new)
    passage, digest = stored.origin.text.replace(old, new), text_digest(text)
    forged = sealed(
        replace(
            stored,
            text=stored.text.replace(old, new),
            triple=replace(stored.triple, value=stored.triple.value.replace(old, new)),
            origin=replace(stored.origin, text=passage, content_hash=digest),
        )
    )
    row = memory_row(forged)
    columns = ", ".join(f'"{name}" = ?' for name in row)
    edit(
        (f"UPDATE memory SET {columns} WHERE id = ?", (*row.values(), memory["id"])),
        (
            "UPDATE turn SET text = ?, content_hash = ? WHERE id = ?",
            (text, digest, stored.origin.turn_id),
        ),
    )

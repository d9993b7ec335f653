"""Texts that nobody needs any more go; what is remembered, and what it comes from, stays."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from service import bootstrap
from service.adapters.retaining import RetentionRuntime, due_now, retain_in
from service.adapters.system import RandomIdentifiers
from service.usecases.retention import Retain, Retained
from tests.integration.backup.places import (
    ANN,
    BEN,
    command,
    files,
    post,
    remembered,
    rows,
)

NOTHING = Retained()


@contextmanager
def opened(place):
    container = bootstrap.build(place.settings, place.parts)
    try:
        container.loader.start()
        container.loader.wait()
        yield retain_in(container.database, container.services.erasure.finisher)
    finally:
        container.close()


def readable(place) -> bytes:
    """Return everything that a user's text could be read in; bodies are encrypted at rest."""
    return repr(rows(place.database)).encode() + b"".join(files(place.settings.data_dir).values())


def test_retired_memories_and_old_turns_go_and_active_ones_stay(place):
    with place.serving() as client:
        before = {user: remembered(client, user) for user in (ANN, BEN)}
    assert b"Reykjavik" in readable(place)
    due = due_now(bootstrap.installation(place.settings), 0)
    with opened(place) as retain:
        done = retain.run(0)
        assert done.users
        assert min(done.memories, done.turns, done.decisions, done.receipts) > 0
        assert (done.memories, done.turns) == (due.memories, due.turns)
        assert retain.run(0) == NOTHING
    kept = readable(place)
    for gone in ("Reykjavik", "The user likes chess.", "What am I allergic to?"):
        assert gone.encode() not in kept, gone
    assert place.verify().ok
    with place.serving() as client:
        for user in (ANN, BEN):
            after = remembered(client, user)
            active = [m for m in before[user]["memories"] if m["status"] == "active"]
            assert texts(after["memories"]) == texts(active)
            assert {m["status"] for m in after["memories"]} == {"active"}
            assert after["reviews"] == before[user]["reviews"], "they wait for a person"
            assert after["recalled"] == before[user]["recalled"]
            assert after["drift"] == "MATCH"
            assert len(after["export"]["lessons"]) == 1
        assert client.get("/audit/verify").json()["ok"]
    reasons = {
        json.loads(row[8])["decision"]["reason_code"]
        for row in rows(place.database)["entry"]
        if row[3] == "erasure.done"
    }
    assert reasons == {"retention"}
    assert {row[12] for row in rows(place.database)["erasure"]} == {"erased"}


def test_nothing_goes_before_its_time(place):
    with opened(place) as retain:
        before = rows(place.database)
        assert retain.run(1) == NOTHING
        assert rows(place.database) == before


def test_a_text_that_something_newer_holds_stays(place):
    with place.serving() as client:
        post(client, "/memory", "cy", {"message": "ok thanks for the tip"})
        turn = client.get("/users/cy/export").json()["turns"][0]["id"]
        said = {"message": "I live in Oslo. ok thanks for the tip"}
        post(client, "/memory", "cy", said)
        assert "Oslo" in str(remembered(client, "cy")["memories"])
    with opened(place) as retain:
        retain.run(0)
    with place.serving() as client:
        held = client.get("/users/cy/export").json()
        assert turn in {t["id"] for t in held["turns"]}
        assert [m["text"] for m in held["memories"]] != []


class InAMonth:
    """A clock that is a month ahead."""

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=31)


def test_a_running_service_does_it_by_itself(place):
    container = bootstrap.build(place.settings, place.parts)
    try:
        retain = Retain(
            database=container.database,
            clock=InAMonth(),
            identifiers=RandomIdentifiers(),
            finisher=container.services.erasure.finisher,
        )
        off, on = (RetentionRuntime(retain, days, container.loader.wait) for days in (0, 30))
        container.start()
        off.start()
        off.close()
        assert rows(place.database)["erasure"] == []
        on.start()
        while not [row for row in rows(place.database)["erasure"] if row[12] == "erased"]:
            time.sleep(0.05)
        on.close()
    finally:
        container.close()
    assert place.verify().ok


def test_the_setting_is_off_until_it_is_chosen(place):
    assert (place.settings.retention.days, place.settings.retention.daily) == (0, False)


def test_the_command(place):
    told = command(place, "retain", "--days", "1", "--dry-run")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["memories"] == 0


def texts(memories) -> list[str]:
    return sorted(m["text"] for m in memories)

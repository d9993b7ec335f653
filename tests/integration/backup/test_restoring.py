"""What comes back from a backup is what went into it."""

from __future__ import annotations

import pytest

from service.domain.errors import Conflict, ReadOnly, Unavailable
from service.usecases.backup_manifest import MANIFEST
from tests.integration.backup.places import (
    ANN,
    BEN,
    EMPTY,
    GROWS,
    LEFT_OUT,
    files,
    remembered,
    rows,
)
from tests.integration.checkpoints.places import read_note


def test_every_row_comes_back_byte_by_byte(place):
    before = rows(place.database)
    empty = {name for name, found in before.items() if not found}
    assert empty - {"outbox"} == EMPTY, "the installation has to hold something of everything"
    made = place.back_up()
    there = place.with_data("other")
    restored = there.restore(made.path)
    after = rows(there.database)
    assert restored.rollback is None
    for name in before.keys() - LEFT_OUT - GROWS:
        assert after[name] == before[name], name
    assert all(after[name] == [] for name in LEFT_OUT)
    kinds = [row[3] for row in sorted(after["entry"])]
    assert kinds[len(before["entry"]) :] == ["backup.restored"]


def test_the_restored_service_answers_as_before_and_verifies(place):
    with place.serving() as client:
        before = {user: remembered(client, user) for user in (ANN, BEN)}
    made = place.back_up()
    there = place.with_data("other")
    there.restore(made.path)
    with there.serving() as client:
        assert {user: remembered(client, user) for user in (ANN, BEN)} == before
        assert {found["drift"] for found in before.values()} == {"MATCH"}
        assert client.get("/audit/verify").json()["ok"]
    report = there.verify()
    assert report.ok
    assert [level.ok for level in report.levels if level.number != 3] == [True] * 5


def test_a_backup_that_continues_the_last_checkpoint_needs_no_consent(place):
    made, seq = place.back_up_recorded()
    assert seq == made.manifest.size
    there = place.with_data("other")
    restored = there.restore(made.path)
    assert (restored.rollback, restored.aside) == (None, None)
    with there.serving():
        assert there.verify().ok
    assert read_note(
        (there.settings.checkpoints_dir / "latest.txt").read_text("utf-8"), vkey(there)
    )


def test_going_back_behind_the_last_checkpoint_needs_consent(place):
    made = place.back_up()
    with place.serving():  # signs the entry that the backup left
        pass
    there = place.with_data("other")
    before = files(there.settings.data_dir.parent)
    with pytest.raises(ReadOnly, match=r"last checkpoint.*accept-rollback"):
        there.restore(made.path)
    assert files(there.settings.data_dir.parent) == before


def test_a_rollback_begins_a_new_series_and_keeps_the_old_one(place):
    made = place.back_up()
    with place.serving() as client:
        later = client.get("/audit/checkpoint").json()["note"]
    there = place.with_data("other")
    restored = there.restore(made.path, accept_rollback=True)
    assert "entries" in (restored.rollback or "")
    store = there.settings.checkpoints_dir
    assert [p.read_text("utf-8") for p in store.glob("archive/*/latest.txt")] == [later]
    kinds = [row[3] for row in sorted(rows(there.database)["entry"])]
    assert kinds[-2:] == ["backup.restored", "checkpoint.adopted"]
    with there.serving() as client:
        assert client.get("/ready").status_code == 200
        assert client.get("/audit/verify").json()["ok"]
    assert there.verify().ok
    witness = there.verify(later)
    assert (witness.ok, witness.reason) == (False, "checkpoint_mismatch")


def test_what_is_there_is_not_overwritten(place):
    made = place.back_up()
    before = files(place.settings.data_dir)
    with pytest.raises(Conflict, match="--replace"):
        place.restore(made.path)
    assert files(place.settings.data_dir) == before


def test_what_is_there_is_moved_aside(place):
    made, _ = place.back_up_recorded()
    old, index = place.database.read_bytes(), place.settings.data_dir / "index"
    index.mkdir(exist_ok=True)
    (index / "old").write_bytes(b"vectors")
    restored = place.restore(made.path, replace=True)
    assert restored.aside is not None
    assert (restored.aside / place.database.name).read_bytes() == old
    assert (restored.aside / "index" / "old").is_file()
    assert not (index / "old").exists()
    with place.serving() as client:
        assert remembered(client, ANN)["drift"] == "MATCH"


def test_the_service_must_not_be_running(place):
    made = place.back_up()
    with place.serving(), pytest.raises(Unavailable, match="another process"):
        place.restore(made.path, replace=True)


def test_the_log_says_that_it_was_restored_and_from_what(place):
    made, _ = place.back_up_recorded()
    there = place.with_data("other")
    there.restore(made.path)
    entries = [row[8] for row in sorted(rows(there.database)["entry"])]
    assert f'"after":"{made.digest}"'.encode() in entries[-1]
    kept = [row[8] for row in sorted(rows(place.database)["entry"])]
    assert kept[:-1] == entries[:-1]
    assert b'"kind":"backup.made"' in kept[-1]
    assert f'"after":"{made.digest}"'.encode() in kept[-1]
    assert (made.path / MANIFEST).is_file()


def vkey(place):
    return (place.settings.key_dir / "log.vkey").read_text("utf-8").strip()

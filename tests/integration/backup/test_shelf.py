"""Keeping only so many backups, and never a half one."""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest

from service.adapters.backup.shelf import FolderShelf
from service.adapters.system import SystemClock
from service.domain.errors import Unavailable
from tests.integration.backup.places import files, sqlite3


def names(place) -> list[str]:
    return sorted(p.name for p in place.shelf.iterdir() if not p.name.startswith("."))


def test_the_oldest_beyond_a_number_are_removed(place):
    made = [place.back_up() for _ in range(3)]
    last = place.back_up(keep=2)
    assert last.removed == (made[0].path.name, made[1].path.name)
    assert names(place) == [made[2].path.name, last.path.name]
    assert [p.name for p in place.shelf.iterdir() if p.name.startswith(".")] == [".backup.lock"]


def test_only_what_is_surely_a_backup_of_this_log_is_removed(place, tmp_path):
    good, changed, cut = place.back_up(), place.back_up(), place.back_up()
    manifest = changed.path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"format":1', b'"format":2'))
    (cut.path / "groundkeeper.db").write_bytes(b"")
    (place.shelf / "holiday-photos").mkdir()
    (place.shelf / "groundkeeper-20200101T000000.000000Z").mkdir()
    last = place.back_up(keep=1)
    assert last.removed == (good.path.name,)
    kept = {changed.path.name, cut.path.name, last.path.name, "holiday-photos"}
    assert set(names(place)) == kept | {"groundkeeper-20200101T000000.000000Z"}


def test_backups_of_another_log_stay(place, filled, tmp_path):
    ours = place.back_up()
    strange = place.shelf / "groundkeeper-20250101T000000.000000Z"
    shutil.copytree(ours.path, strange)
    text = (strange / "manifest.json").read_bytes()
    (strange / "manifest.json").write_bytes(
        text.replace(b"groundkeeper/log_", b"groundkeeper/lag_")
    )
    place.back_up(keep=1)
    assert strange.is_dir()


def test_a_failed_backup_leaves_nothing_and_removes_nothing(place):
    first = place.back_up()
    with closing(sqlite3.connect(place.database, isolation_level=None)) as raw:
        raw.execute("DELETE FROM memory_event")
        raw.execute("DELETE FROM conflict")
    before = files(place.shelf)
    with pytest.raises(Unavailable):
        place.back_up(keep=1)
    assert files(place.shelf) == before
    assert names(place) == [first.path.name]


def test_what_a_killed_backup_left_is_removed_by_the_next(place):
    left = place.shelf / ".groundkeeper-20200101T000000.000000Z.part"
    left.mkdir(parents=True)
    (left / "groundkeeper.db").write_bytes(b"half")
    place.back_up()
    assert not left.exists()


def test_two_backups_at_once_into_one_folder(place):
    with (
        FolderShelf(place.shelf).draft(SystemClock().now()),
        pytest.raises(Unavailable, match="another backup"),
    ):
        place.back_up()
    assert place.back_up().path.is_dir()


def test_a_folder_that_cannot_be_written(place):
    place.shelf.write_bytes(b"a file")
    with pytest.raises(Unavailable, match="cannot use"):
        place.back_up()

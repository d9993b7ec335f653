"""What is signed, when, and in which form."""

from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service import bootstrap
from service.adapters.checkpoints.runtime import Cadence
from service.adapters.checkpoints.store import FileCheckpointStore
from service.audit.notes import split_notes
from service.domain.errors import Conflict, InvalidInput, Unavailable
from service.ports.storage import EntryDraft
from service.settings import CheckpointSettings
from tests.integration.checkpoints.places import SCOPE, append, read_note, root_of


def test_a_new_log_is_signed_before_anything_is_written(place):
    with place.open() as container:
        seen = read_note(place.latest(), place.vkey())
        assert container.services.checkpoints.latest() == place.latest()
        assert container.services.checkpoints.state().uncovered == 0
    assert (seen.size, seen.root) == (1, root_of(place.leaves()))
    first, second = (read_note(n, place.vkey()) for n in split_notes(place.published()))
    assert (first.size, first.root) == (0, hashlib.sha256(b"").digest())
    assert second == seen


def test_stopping_signs_what_is_not_covered_yet(place):
    place.run(entries=7)
    seen = read_note(place.latest(), place.vkey())
    assert (seen.size, seen.root) == (8, root_of(place.leaves()))


def test_starting_again_goes_on_with_the_same_key(place):
    place.run(entries=2)
    key = place.vkey()
    place.run(entries=3)
    sizes = [read_note(note, key).size for note in split_notes(place.published())]
    assert sizes == [0, 1, 3, 6]


def test_what_a_crash_left_unsigned_is_signed_at_the_next_start(place):
    place.run(entries=1)
    kept = place.latest()
    with place.open() as container:
        append(container, 2)
        (place.store / "latest.txt").rename(place.store / "elsewhere")
    (place.store / "latest.txt").write_text(kept, encoding="utf-8")
    with place.open():
        assert read_note(place.latest(), place.vkey()).size == 4


def test_the_private_key_is_for_its_owner_only_and_the_public_one_beside_it(place):
    place.run()
    key = place.settings.key_dir / "log.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_bytes()) == 32
    assert place.vkey().startswith(read_note(place.latest(), place.vkey()).origin)


def test_a_key_that_others_can_read_stops_the_start(place):
    place.run()
    (place.settings.key_dir / "log.key").chmod(0o640)
    with pytest.raises(Unavailable, match="chmod 600"):
        place.run()


def test_the_thread_signs_while_writing_goes_on(make_place):
    place = make_place(checkpoint=CheckpointSettings(entries=5, seconds=3600))
    with place.open() as container:
        container.checkpoints.start()
        append(container, 5)
        wait_until(lambda: read_note(place.latest(), place.vkey()).size == 6)
        append(container, 1)
        assert container.services.checkpoints.uncovered() == 1
    assert read_note(place.latest(), place.vkey()).size == 7


def test_time_alone_is_enough(make_place):
    place = make_place(checkpoint=CheckpointSettings(entries=1000, seconds=0.01))
    with place.open() as container:
        container.checkpoints.start()
        append(container, 1)
        wait_until(lambda: read_note(place.latest(), place.vkey()).size == 2)


@pytest.mark.parametrize(
    ("uncovered", "waited", "due"),
    [(0, 99, False), (1, 0, False), (1, 10, True), (99, 9, False), (100, 0, True)],
)
def test_cadence(uncovered, waited, due):
    assert Cadence(entries=100, seconds=10).due(uncovered, waited) is due


def test_an_entry_is_handed_out_with_the_checkpoint_before_it(place):
    with place.open() as container:
        draft = EntryDraft(kind="evaluation.recorded", actor=SCOPE.actor)
        write = container.services.audit._database.write
        before = place.latest()
        assert write(SCOPE, lambda tx: tx.audit.append(draft, {})).checkpoint == before
        container.services.checkpoints.sign()
        assert write(SCOPE, lambda tx: tx.audit.append(draft, {})).checkpoint == place.latest()
        assert place.latest() != before


def test_an_origin_that_cannot_be_signed_for_is_refused(make_place):
    place = make_place(origin="groundkeeper/a+b")
    with pytest.raises(InvalidInput, match="ORIGIN"):
        place.run()
    make_place(origin="groundkeeper/a").run(entries=1)


def test_of_two_that_follow_the_same_checkpoint_one_gets_in(tmp_path):
    store = FileCheckpointStore(tmp_path / "store")
    store.create("first\n\n\u2014 a b\n")
    start = threading.Barrier(8)

    def put(number: int) -> bool:
        start.wait()
        try:
            FileCheckpointStore(tmp_path / "store").swap("first\n\n\u2014 a b\n", f"{number}")
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = [number for number, done in enumerate(pool.map(put, range(8))) if done]
    assert len(won) == 1
    stored = store.read()
    assert stored is not None
    assert stored.note == str(won[0])


def test_a_store_is_made_once(tmp_path):
    store = FileCheckpointStore(tmp_path / "store")
    assert store.read() is None
    with pytest.raises(Unavailable):
        store.swap("a", "b")
    store.create("a")
    with pytest.raises(Conflict):
        store.create("b")


@pytest.mark.parametrize("lost", [1, 20, 120, 200, 100_000])
def test_a_published_note_that_a_crash_cut_short_is_written_again(place, lost):
    place.run(entries=1)
    complete = place.published()
    path = place.store / "checkpoints.txt"
    path.write_text(complete[:-lost], encoding="utf-8")
    place.run(entries=1)
    last = split_notes(complete)[-1]
    expected = f"{complete}\n{place.latest()}" if lost < 300 else f"{last}\n{place.latest()}"
    assert place.published() == expected


def test_a_published_file_that_was_moved_away_begins_with_the_last_note(place):
    place.run(entries=1)
    last = place.latest()
    (place.store / "checkpoints.txt").unlink()
    place.run(entries=1)
    assert split_notes(place.published()) == (last, place.latest())


def test_a_store_that_cannot_be_written_is_trouble_but_no_refusal(place):
    with place.open() as container:
        append(container, 1)
        part = place.store / "latest.txt.part"
        part.mkdir()
        assert container.services.checkpoints.sign() is None
        assert "checkpoint store" in (container.services.checkpoints.state().trouble or "")
        assert container.checkpoints.probe().ok
        append(container, 1)
        part.rmdir()
        signed = container.services.checkpoints.sign()
        assert signed is not None
        assert signed.checkpoint.size == 3
        assert container.services.checkpoints.state().trouble is None


def test_another_store_folder(make_place, tmp_path):
    place = make_place(checkpoint_dir=tmp_path / "apart")
    place.run(entries=1)
    assert read_note((tmp_path / "apart" / "latest.txt").read_text(), place.vkey()).size == 2
    assert not (tmp_path / "keys" / "checkpoints").exists()


@pytest.mark.skipif(os.name != "posix", reason="other platforms show differently who may read")
def test_nothing_of_the_key_is_in_the_data_folder(place):
    place.run(entries=1)
    seed = (place.settings.key_dir / "log.key").read_bytes()
    files = [p for p in place.settings.data_dir.rglob("*") if p.is_file()]
    assert files
    assert not any(seed in p.read_bytes() for p in files)


def wait_until(condition) -> None:
    for _ in range(600):
        if condition():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never came true")


def test_examine_tells_about_checkpoints(place):
    def state() -> tuple[bool, str]:
        found = {p.name: p for p in bootstrap.examine(place.settings)}["checkpoint"]
        return found.ok, found.detail

    assert state() == (True, "will be made with the database")
    place.run(entries=2)
    assert state() == (True, "3 entries signed, 0 not yet")
    with place.open() as container:
        append(container, 1)
        assert state() == (True, "3 entries signed, 1 not yet")
    place.database.unlink()
    assert state() == (False, "there is a last checkpoint, but no database")

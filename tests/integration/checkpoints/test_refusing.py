"""A log that does not continue its last checkpoint is neither signed nor written to."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable

import pytest

from service import bootstrap
from service.domain.errors import Conflict, ReadOnly
from service.ports.storage import SYSTEM
from tests.integration.checkpoints.places import Place, append, read_note, root_of


def refused(place: Place, said: str) -> None:
    """Open, see that everything is refused with this reason, and that nothing was signed."""
    published = place.published() if (place.store / "checkpoints.txt").exists() else None
    with place.open() as container:
        state = container.services.checkpoints.state()
        assert said in (state.refused or "")
        probe = container.checkpoints.probe()
        assert not probe.ok
        assert "read-only" in probe.detail
        with pytest.raises(ReadOnly, match="audit log"):
            append(container, 1)
        assert container.services.checkpoints.sign() is None
        assert container.services.audit.size() >= 1
    examined = {p.name: p for p in bootstrap.examine(place.settings)}["checkpoint"]
    assert not examined.ok
    now = place.published() if (place.store / "checkpoints.txt").exists() else None
    assert now == published


def test_a_restored_old_copy(place):
    place.run(entries=3)
    old = place.copy_data("old")
    place.run(entries=4)
    place.restore_data(old)
    refused(place, "has 4 entries, the last checkpoint 8")


def test_an_old_copy_that_has_grown_past_the_checkpoint(place, make_place):
    place.run(entries=3)
    old = place.copy_data("old")
    place.run(entries=2)
    # The attacker's own installation, with the same log but without the key, lets it grow.
    others = shutil.copytree(place.settings.key_dir, old.parent / "others")
    for path in (others / "log.key", others / "log.vkey"):
        path.unlink()
    elsewhere = make_place(data_dir=old, key_dir=others)
    bootstrap.adopt_checkpoint(elsewhere.settings, "on another machine")
    elsewhere.run(entries=6)
    place.restore_data(old)
    refused(place, "history was rewritten")


def test_a_cut_tail_with_a_repaired_head(place):
    place.run(entries=5)
    last = "(SELECT leaf FROM entry WHERE seq = 3)"
    moment = "(SELECT ts FROM entry WHERE seq = 3)"
    place.tamper(
        "DELETE FROM entry WHERE seq > 3",
        "DELETE FROM node WHERE ((position + 1) << level) > 4",
        f"UPDATE head SET size = 4, leaf = {last}, ts = {moment}",
    )
    refused(place, "has 4 entries, the last checkpoint 6")


def test_a_changed_leaf(place):
    place.run(entries=5)
    place.tamper(
        "UPDATE entry SET leaf = (SELECT leaf FROM entry WHERE seq = 1) WHERE seq = 4",
        "UPDATE node SET hash = zeroblob(32) WHERE level = 1 AND position = 2",
    )
    refused(place, "history was rewritten")


def test_a_lost_store(place):
    place.run(entries=3)
    shutil.rmtree(place.store)
    refused(place, "no checkpoint store")
    assert not place.store.exists()


def test_a_store_that_lost_its_last_checkpoint(place):
    place.run(entries=3)
    (place.store / "latest.txt").unlink()
    refused(place, "no latest.txt")


def test_a_wiped_database(place):
    place.run(entries=3)
    shutil.rmtree(place.settings.data_dir)
    refused(place, "wiped or replaced")
    refused(place, "wiped or replaced")


def test_a_wiped_database_of_a_log_with_a_fixed_name(make_place):
    place = make_place(origin="groundkeeper/mine")
    place.run(entries=3)
    shutil.rmtree(place.settings.data_dir)
    refused(place, "has 1 entries, the last checkpoint 4")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda note: note.replace("\n4\n", "\n3\n"), "signature"),
        (lambda note: note.split("\n\n", maxsplit=1)[0] + "\n", "signature"),
        (lambda note: "", "not one that the key here has signed"),
    ],
)
def test_a_stored_checkpoint_that_was_changed(place, change: Callable[[str], str], said):
    place.run(entries=3)
    (place.store / "latest.txt").write_text(change(place.latest()), encoding="utf-8")
    refused(place, said)


def test_another_key(place):
    place.run(entries=3)
    (place.settings.key_dir / "log.key").write_bytes(bytes(32))
    refused(place, "not one that the key here has signed")
    (place.settings.key_dir / "log.key").unlink()
    refused(place, "log.key is gone")
    assert not (place.settings.key_dir / "log.key").exists()


def test_the_first_checkpoint_put_back(place):
    place.run(entries=3)
    first = place.published().split("\n\n\n")[0]
    note = "\n".join(first.split("\n")[:5]) + "\n"
    assert read_note(note, place.vkey()).size == 0
    (place.store / "latest.txt").write_text(note, encoding="utf-8")
    refused(place, "has grown without a checkpoint")


def test_a_log_that_changes_under_a_running_service(place):
    place.run(entries=3)
    with place.open() as container:
        append(container, 2)
        place.tamper(
            "UPDATE entry SET leaf = (SELECT leaf FROM entry WHERE seq = 1) WHERE seq = 2",
            "UPDATE node SET hash = zeroblob(32)",
        )
        assert container.services.checkpoints.sign() is None
        assert "rewritten" in (container.services.checkpoints.refused or "")
        with pytest.raises(ReadOnly):
            append(container, 1)
    assert read_note(place.latest(), place.vkey()).size == 4


def test_a_second_signer_on_the_same_store_is_followed_or_refused(place, make_place):
    place.run(entries=1)
    twin = make_place(data_dir=place.copy_data("twin"))
    with place.open() as container:
        append(container, 1)
        twin.run(entries=3)
        assert container.services.checkpoints.sign() is None
        assert "the last checkpoint 5" in (container.services.checkpoints.refused or "")


def test_adopting_takes_over_a_log_without_a_store(place):
    place.run(entries=2)
    shutil.rmtree(place.store)
    root = place.leaves()
    done = bootstrap.adopt_checkpoint(place.settings, "for the test")
    assert done.archived is None
    assert place.kinds()[-1] == "checkpoint.adopted"
    assert read_note(done.note, place.vkey()).size == done.seq + 1 == len(root) + 1
    place.run(entries=1)
    assert read_note(place.latest(), place.vkey()).size == len(root) + 2


def test_adopting_puts_the_old_checkpoints_aside(place):
    place.run(entries=3)
    old = place.copy_data("old")
    place.run(entries=2)
    kept = place.latest()
    place.restore_data(old)
    done = bootstrap.adopt_checkpoint(place.settings, "for the test", "backup.restored")
    archived = place.store / "archive"
    assert [p.read_text() for p in archived.rglob("latest.txt")] == [kept]
    assert place.vkey() in next(archived.rglob("why.txt")).read_text()
    assert place.kinds()[-1] == "backup.restored"
    with place.open() as container:
        assert container.services.checkpoints.refused is None
        append(container, 1)
        entry = container.services.audit.get(SYSTEM, done.seq)
    assert entry.entry is not None
    draft = entry.entry.draft
    assert draft.state_before == hashlib.sha256(kept.encode()).hexdigest()
    assert draft.state_after == root_of(place.leaves()[: done.seq]).hex()


def test_there_is_nothing_to_adopt_about_a_log_that_is_well(place):
    place.run(entries=2)
    with pytest.raises(Conflict, match="nothing to adopt"):
        bootstrap.adopt_checkpoint(place.settings, "for the test")
    assert "checkpoint.adopted" not in place.kinds()

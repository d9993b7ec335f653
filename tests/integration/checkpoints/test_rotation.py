"""A new key takes over, and whoever knows the old one can follow."""

from __future__ import annotations

import hashlib
from base64 import b64decode

import pytest

from service import bootstrap
from service.adapters.checkpoints.store import FileCheckpointStore
from service.adapters.signing.log_keys import FileLogKeys
from service.audit.errors import VerificationError
from service.audit.notes import open_note, parse_verifier_key, split_notes
from service.domain.errors import ReadOnly, Unavailable
from service.ports.storage import SYSTEM, AuditFilter, PageRequest
from tests.integration.checkpoints.places import Place, append, read_note


def public_sha256(vkey: str) -> str:
    return hashlib.sha256(b64decode(vkey.split("+", 2)[2])[1:]).hexdigest()


def test_both_keys_sign_the_checkpoint_of_the_rotation(place):
    place.run(entries=2)
    old, seed = place.vkey(), (place.settings.key_dir / "log.key").read_bytes()
    done = bootstrap.rotate_log_key(place.settings)
    assert (done.old, done.new) == (old, place.vkey())
    assert done.old != done.new
    seen = read_note(done.note, old, done.new)
    assert seen.signers == (old, done.new)
    assert seen.size == 4
    assert place.kinds()[-1] == "key.rotated"
    files = [p for p in place.settings.key_dir.rglob("*") if p.is_file()]
    assert not any(seed in p.read_bytes() for p in files)
    assert not (place.settings.key_dir / "log.key.next").exists()
    assert (place.settings.key_dir / "log.key").stat().st_mode & 0o777 == 0o600


def test_verifiers_with_either_key_follow(place):
    place.run(entries=2)
    old = parse_verifier_key(place.vkey())
    done = bootstrap.rotate_log_key(place.settings)
    new = parse_verifier_key(place.vkey())
    place.run(entries=2)
    check = FileLogKeys(place.settings.key_dir).check
    *before, handover, after = split_notes(place.published())
    assert handover == done.note
    for note in (*before, handover):
        assert old in open_note(note, [old], check)[1]
    for note in (handover, after):
        assert new in open_note(note, [new], check)[1]
    with pytest.raises(VerificationError):
        open_note(after, [old], check)
    for note in (*before, handover, after):
        open_note(note, [old, new], check)


def test_the_entry_names_both_keys_and_the_old_one_is_still_told(place):
    place.run()
    done = bootstrap.rotate_log_key(place.settings)
    with place.open() as container:
        found = container.services.audit._database.read(
            SYSTEM,
            lambda tx: tx.audit.list(AuditFilter(action="key.rotated"), PageRequest()).items,
        )
        entry = container.services.audit.get(SYSTEM, found[0].seq).entry
        assert entry is not None
        assert entry.draft.state_before == public_sha256(done.old)
        assert entry.draft.state_after == public_sha256(done.new)
        assert container.services.checkpoints.keys() == (done.new, done.old)
        assert container.services.checkpoints.rotations() == (done.note,)


def test_rotating_twice(place):
    place.run()
    first = bootstrap.rotate_log_key(place.settings)
    place.run(entries=1)
    second = bootstrap.rotate_log_key(place.settings)
    assert second.old == first.new
    assert bootstrap.log_keys(place.settings) == (second.new, (first.old, first.new))
    place.run(entries=1)
    assert place.kinds().count("key.rotated") == 2


class StoppedError(Exception):
    """The power went."""


def interrupted(place: Place, monkeypatch, name: str, *, after: bool) -> None:
    """Rotate until a step of the adapters is about to be done, or was just done."""
    owner = FileCheckpointStore if name == "swap" else FileLogKeys
    real = getattr(owner, name)

    def stop(*given: object) -> object:
        if after:
            real(*given)
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop)
        with pytest.raises(StoppedError):
            bootstrap.rotate_log_key(place.settings)


@pytest.mark.parametrize("start_between", [False, True])
@pytest.mark.parametrize(
    ("name", "after"),
    [("make_next", True), ("swap", False), ("swap", True), ("finish", False), ("publish", True)],
)
def test_an_interrupted_rotation_is_finished(place, monkeypatch, name, after, start_between):
    place.run(entries=1)
    old = place.vkey()
    interrupted(place, monkeypatch, name, after=after)
    if start_between:
        place.run(entries=1)
    if (place.settings.key_dir / "log.key.next").exists():
        bootstrap.rotate_log_key(place.settings)
    with place.open() as container:
        assert container.services.checkpoints.refused is None
        append(container, 1)
    current, retired = bootstrap.log_keys(place.settings)
    assert retired == (old,)
    assert place.kinds().count("key.rotated") == 1
    assert read_note(place.latest(), current).signers == (current,)


def test_a_log_that_was_rolled_back_is_not_given_a_new_key(place):
    place.run(entries=1)
    old = place.copy_data("old")
    place.run(entries=1)
    place.restore_data(old)
    with pytest.raises(ReadOnly, match="has 2 entries"):
        bootstrap.rotate_log_key(place.settings)
    assert not (place.settings.key_dir / "log.key.next").exists()


def test_a_running_service_is_not_given_a_new_key(place):
    with place.open(), pytest.raises(Unavailable, match="another process"):
        bootstrap.rotate_log_key(place.settings)

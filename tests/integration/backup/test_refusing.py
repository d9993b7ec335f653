"""What is not exactly as it was signed is refused, and nothing is changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import closing

import pytest

from service.adapters.backup.shelf import FolderBackup
from service.adapters.checkpoints.wiring import checkpoint_parts
from service.audit.notes import VerifierKey, sign_note
from service.domain.canonical import canonical_json
from service.domain.errors import Damaged, Unavailable
from service.usecases.backup import Signing
from service.usecases.backup_manifest import MANIFEST, SIGNATURE, signed_text
from service.usecases.restore import open_backup
from tests.integration.backup.places import files, sqlite3

NAMES = ("groundkeeper.db", "checkpoint.txt", "public-keys.txt", MANIFEST, SIGNATURE)


@pytest.fixture
def target(place):
    """Where to restore to; afterwards nothing may have changed anywhere."""
    there = place.with_data("other")
    there.settings.data_dir.mkdir()
    before = files(there.settings.data_dir), files(there.settings.key_dir)
    yield there
    assert (files(there.settings.data_dir), files(there.settings.key_dir)) == before
    assert not (there.settings.data_dir / "restore.part").exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_bit_in_any_file(place, target, name):
    made = place.back_up()
    file = made.path / name
    whole = file.read_bytes()
    for where in (0.0, 0.13, 0.29, 0.5, 0.77, 0.9, 1.0):
        data = bytearray(whole)
        data[int(where * (len(data) - 1))] ^= 0x01
        file.write_bytes(bytes(data))
        with pytest.raises(Damaged):
            target.restore(made.path, replace=True, accept_rollback=True)
    file.write_bytes(whole)
    assert open_backup(FolderBackup(made.path), signing(target)).manifest == made.manifest


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_missing_or_cut_short(place, target, name):
    made = place.back_up()
    file = made.path / name
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(Damaged):
        target.restore(made.path)
    file.unlink()
    with pytest.raises(Damaged):
        target.restore(made.path)


def test_parts_of_two_backups_do_not_go_together(place, target):
    first, second = place.back_up(), place.back_up()
    assert first.manifest.size < second.manifest.size
    for name in ("groundkeeper.db", SIGNATURE, MANIFEST):
        mixed = place.shelf.parent / f"mixed-{name}"
        shutil.copytree(second.path, mixed)
        shutil.copyfile(first.path / name, mixed / name)
        with pytest.raises(Damaged):
            target.restore(mixed, accept_rollback=True)


def test_a_backup_that_a_strange_key_has_signed(place, target, tmp_path):
    made = place.back_up()
    strange = checkpoint_parts(tmp_path / "c", tmp_path / "k").keys.make()
    data = (made.path / MANIFEST).read_bytes()
    named = VerifierKey(made.manifest.log, strange.public)
    note = sign_note(signed_text(made.manifest.log, data), named, strange.sign)
    (made.path / SIGNATURE).write_bytes(note.encode())
    with pytest.raises(Damaged, match="no key of this installation"):
        target.restore(made.path)


def test_rows_that_were_changed_by_somebody_with_the_signing_key(place, target):
    """Even then: a ciphertext fits its own row only, and the tables have to fit the log."""
    made = place.back_up()
    swap = (
        "UPDATE memory SET text = (SELECT text FROM memory WHERE position = ?) WHERE position = ?"
    )
    resign(place, made, swap, (1, 2))
    with pytest.raises(Damaged, match="does not decrypt"):
        target.restore(made.path)


def test_rows_that_are_not_encrypted(place, target):
    made = place.back_up()
    resign(place, made, "UPDATE turn SET id = 'turn_1' WHERE position = ?", (1,))
    with pytest.raises(Damaged, match="not encrypted"):
        target.restore(made.path)


def test_a_row_that_is_gone(place, target):
    made = place.back_up()
    resign(place, made, "DELETE FROM lesson WHERE position = ?", (1,))
    with pytest.raises(Damaged, match="tables_mismatch"):
        target.restore(made.path)


def test_without_the_keys_of_users(place, target):
    made = place.back_up()
    other = place.with_data("elsewhere")
    keys = other.settings.data_dir.parent / "strange"
    shutil.copytree(place.settings.key_dir, keys)
    (keys / "subjects.db").unlink()
    lost = other.settings.model_copy(update={"key_dir": keys})
    without = type(place)(lost, place.parts)
    with pytest.raises(Unavailable, match=r"subjects\.db is missing"):
        without.restore(made.path)
    (keys / "log.key").unlink()
    with pytest.raises(Damaged, match="no key of this installation"):
        without.restore(made.path)


def test_keys_that_are_older_than_the_backup(place):
    kept = place.settings.key_dir.parent / "old-keys"
    shutil.copytree(place.settings.key_dir, kept)
    with place.serving() as client:
        said = {"user_id": "new", "message": "I live in Oslo."}
        assert client.post("/memory", json=said).status_code == 201
    made = place.back_up()
    other = place.with_data("other").settings
    old = type(place)(other.model_copy(update={"key_dir": kept}), place.parts)
    with pytest.raises(Unavailable, match="older than the backup"):
        old.restore(made.path)
    assert files(other.data_dir) == {}


def signing(place) -> Signing:
    parts = checkpoint_parts(place.settings.checkpoints_dir, place.settings.key_dir)
    return Signing(parts.store, parts.keys)


def resign(place, made, statement, values):
    """Change the copy and sign it anew with the installation's own key."""
    with closing(sqlite3.connect(made.path / "groundkeeper.db", isolation_level=None)) as raw:
        assert raw.execute(statement, values).rowcount == 1
    data = (made.path / MANIFEST).read_bytes()
    value = json.loads(data)
    changed = (made.path / "groundkeeper.db").read_bytes()
    value["files"]["groundkeeper.db"] = {
        "sha256": hashlib.sha256(changed).hexdigest(),
        "bytes": len(changed),
    }
    data = canonical_json(value)
    (made.path / MANIFEST).write_bytes(data)
    key = signing(place).keys.current()
    named = VerifierKey(made.manifest.log, key.public)
    note = sign_note(signed_text(made.manifest.log, data), named, key.sign)
    (made.path / SIGNATURE).write_bytes(note.encode())

"""The signing key: made once, private, and refused when it is not."""

import pytest

from service.adapters.signing.ed25519 import open_signer
from service.domain.errors import Unavailable


def test_a_key_is_made_once_and_only_its_owner_reads_it(tmp_path):
    folder = tmp_path / "keys"
    first, second = open_signer(folder), open_signer(folder)
    assert first.key_id == second.key_id
    assert (folder / "receipts.key").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert second.verify(first.key_id, b"text", first.sign(b"text"))


def test_other_texts_keys_and_signatures_do_not_pass(tmp_path):
    one, other = open_signer(tmp_path / "a"), open_signer(tmp_path / "b")
    signature = one.sign(b"text")
    assert not one.verify(one.key_id, b"texts", signature)
    assert not one.verify(other.key_id, b"text", signature)
    assert not other.verify(other.key_id, b"text", signature)
    assert not one.verify(one.key_id, b"text", signature[:-1])


def test_a_retired_key_still_verifies(tmp_path):
    old = open_signer(tmp_path / "old")
    public = old._private.public_key().public_bytes_raw().hex()
    new_folder = tmp_path / "new"
    new_folder.mkdir()
    (new_folder / "2025.pub").write_text(public, encoding="ascii")
    new = open_signer(new_folder)
    assert new.key_id != old.key_id
    assert new.verify(old.key_id, b"text", old.sign(b"text"))


def test_a_key_that_others_can_read_is_refused(tmp_path):
    open_signer(tmp_path)
    (tmp_path / "receipts.key").chmod(0o644)
    with pytest.raises(Unavailable, match="chmod 600"):
        open_signer(tmp_path)


def test_a_file_that_is_no_key_is_refused(tmp_path):
    (tmp_path / "receipts.key").touch(mode=0o600)
    with pytest.raises(Unavailable, match="no key"):
        open_signer(tmp_path)

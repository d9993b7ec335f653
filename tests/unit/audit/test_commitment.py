import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.commitment import SALT_BYTES, commit, new_salt, opens
from service.audit.errors import VerificationError
from service.audit.rows import Body


@given(st.text(st.characters(exclude_categories=["Cs"])), st.binary(min_size=32, max_size=32))
def test_a_body_opens_its_own_commitment_only(text, salt):
    commitment = commit(salt, text.encode())
    assert commitment == hmac.new(salt, text.encode(), hashlib.sha256).hexdigest()
    assert opens(commitment, Body(salt, text))
    assert not opens(commitment, Body(salt, f"{text}!"))
    assert not opens(commitment, Body(new_salt(), text))


def test_rfc_4231_vector():
    # Test case 1 has a 20-byte key; HMAC pads keys with zeros, so ours is the same key.
    salt = b"\x0b" * 20 + bytes(12)
    expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    assert commit(salt, b"Hi There") == expected


def test_salts_are_long_and_fresh():
    assert len(new_salt()) == SALT_BYTES
    assert new_salt() != new_salt()


@pytest.mark.parametrize("salt", [b"", b"x" * 31, b"x" * 33])
def test_a_short_salt_is_refused(salt):
    with pytest.raises(VerificationError):
        commit(salt, b"text")
    assert not opens("ab" * 32, Body(salt, "text"))


def test_text_that_is_not_text_opens_nothing():
    assert not opens("ab" * 32, Body(new_salt(), "\ud800"))

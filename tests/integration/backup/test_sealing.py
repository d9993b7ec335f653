"""A ciphertext opens with its key, in its place, and nowhere else."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.backup.sealing import Place, is_sealed, seal, unseal
from service.domain.errors import Damaged
from service.ports.subject_keys import SubjectRef

KEY = bytes(range(32))
HERE = Place("memory", ("text", "value"), ("7",), SubjectRef("default", "sub_1"))
ELSEWHERE = (
    replace(HERE, table="turn"),
    replace(HERE, columns=("value", "text")),
    replace(HERE, columns=("text", "attribute")),
    replace(HERE, row=("8",)),
    replace(HERE, row=("7", "")),
    replace(HERE, who=SubjectRef("acme", "sub_1")),
    replace(HERE, who=SubjectRef("default", "sub_2")),
    replace(HERE, who=SubjectRef("defaultsub_", "1")),
)


@given(st.lists(st.none() | st.binary(max_size=300), min_size=2, max_size=2), st.booleans())
def test_what_goes_in_comes_out(values, as_text):
    sealed = seal(KEY, HERE, values, as_text=as_text)
    assert is_sealed(sealed)
    assert unseal(KEY, HERE, sealed) == values
    assert not as_text or sealed.isascii()


@pytest.mark.parametrize("place", ELSEWHERE, ids=repr)
@pytest.mark.parametrize("as_text", [False, True])
def test_it_fits_its_own_place_only(place, as_text):
    sealed = seal(KEY, HERE, (b"tea", b"green"), as_text=as_text)
    with pytest.raises(Damaged):
        unseal(KEY, place, sealed)
    with pytest.raises(Damaged):
        unseal(os.urandom(32), HERE, sealed)


@pytest.mark.parametrize("as_text", [False, True])
def test_no_byte_of_it_can_be_changed(as_text):
    sealed = seal(KEY, HERE, (b"tea", None), as_text=as_text)
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 0x01
        with pytest.raises(Damaged):
            unseal(KEY, HERE, bytes(changed))
    for cut in (sealed[:-1], sealed[: len(sealed) // 2], b"", None):
        with pytest.raises(Damaged):
            unseal(KEY, HERE, cut)


def test_its_length_tells_little_and_the_same_text_looks_different():
    short, long = (seal(KEY, HERE, (b"x" * n, None), as_text=True) for n in (1, 50))
    assert len(short) == len(long)
    assert short != seal(KEY, HERE, (b"x", None), as_text=True)

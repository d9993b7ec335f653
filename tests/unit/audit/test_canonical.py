import json
from contextlib import suppress

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from service.audit.canonical import MAX_BYTES, MAX_INT, canonicalise, parse_strict
from service.audit.errors import VerificationError

ascii_text = st.text(st.characters(max_codepoint=0x7F))
scalars = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | ascii_text
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_text, inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_was_written_reads_back_and_both_encoders_agree(value):
    data = canonicalise(value)
    assert data == rfc8785.dumps(value)
    assert parse_strict(data) == value


def test_the_order_of_keys_does_not_matter():  # aud-008
    assert canonicalise({"a": 1, "b": None}) == canonicalise({"b": None, "a": 1})


@given(values.filter(lambda value: isinstance(value, dict | list)))
def test_any_other_spelling_is_refused(value):
    spaced = json.dumps(value, indent=1).encode()
    if spaced != canonicalise(value):
        with pytest.raises(VerificationError):
            parse_strict(spaced)


@given(st.binary(max_size=60))
def test_untrusted_bytes_raise_one_error_type(data):
    with suppress(VerificationError):
        assert canonicalise(parse_strict(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a":1}x',
        b'{"a":1} ',
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":1,"a":1}',
        b'{"a":1.0}',
        b'{"a":1e3}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":-0}',
        b'{"a":9007199254740992}',
        b'{"a":-9007199254740992}',
        b'{"a":1' + b"0" * 5000 + b"}",
        b'{"a":"\\u0061"}',
        b'{"a":"\\/"}',
        '{"é":1}'.encode(),
        b'{"\\u00e9":1}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b"\xef\xbb\xbf{}",
        b"[" * 5000 + b"]" * 5000,
        b"[" * 4000 + b"]" * 4000,
        b'"' + b"a" * MAX_BYTES + b'"',
    ],
)
def test_malformed_bytes_are_refused(data):
    with pytest.raises(VerificationError):
        parse_strict(data)


@pytest.mark.parametrize(
    "value", [1.5, {"a": [0.0]}, (1.0,), MAX_INT + 1, -MAX_INT - 1, "\ud800", {1: 2}, object()]
)
def test_values_outside_the_subset_are_not_written(value):
    with pytest.raises(VerificationError):
        canonicalise(value)


def test_nesting_without_end_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(VerificationError):
        canonicalise(endless)


def test_floats_are_written_where_they_are_allowed():
    assert canonicalise({"b": 0.5, "a": 1e21}, floats=True) == b'{"a":1e+21,"b":0.5}'
    with pytest.raises(VerificationError):
        canonicalise(float("nan"), floats=True)

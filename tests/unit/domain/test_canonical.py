"""The quick canonical form is the one of RFC 8785, whatever the value."""

from __future__ import annotations

import math
from enum import StrEnum

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from service.domain.canonical import canonical_json

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(min_value=0, max_value=1).map(lambda x: round(x, 6))
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Colour(StrEnum):
    RED = "red"


@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_it_agrees_with_the_reference(value):
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "number",
    [
        0.0,
        -0.0,
        1.0,
        1e-6,
        1e-7,
        1e-4,
        0.00012,
        1e15,
        9.1e15,
        1e16,
        1e21,
        1.5e300,
        5e-324,
        123456.789,
    ],
)
def test_floats_are_written_as_ecmascript_writes_them(number):
    assert canonical_json({"n": number}) == rfc8785.dumps({"n": number})


@pytest.mark.parametrize(
    "value",
    [{"a": math.nan}, {"a": math.inf}, {"a": "\ud800"}, {"a": object()}, {"a": 2**60}, {1: 2}],
)
def test_what_is_no_json_is_refused(value):
    with pytest.raises(ValueError, match="canonicalisable"):
        canonical_json(value)


def test_keys_beyond_the_first_plane_sort_by_utf16():
    value = {"\U0001f600": 1, "\ufb33": 2}
    assert canonical_json(value) == rfc8785.dumps(value)
    assert canonical_json(value).index("\U0001f600".encode()) < canonical_json(value).index(
        "\ufb33".encode()
    )


def test_tuples_and_string_enums_are_what_they_look_like():
    assert canonical_json({"a": (1, 2), "b": Colour.RED}) == b'{"a":[1,2],"b":"red"}'

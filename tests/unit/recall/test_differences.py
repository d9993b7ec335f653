"""Differences between JSON values."""

import pytest

from service.domain.recall.differences import differences


@pytest.mark.parametrize(
    ("a", "b", "fields"),
    [
        ({"x": 1}, {"x": 1}, []),
        ({"x": 0.5}, {"x": 0.50001}, []),
        ({"x": 0.5}, {"x": 0.51}, ["x"]),
        ({"x": True}, {"x": 1}, ["x"]),
        ({"x": None}, {}, []),
        ({"x": "a"}, {"x": "b", "y": 1}, ["x", "y"]),
        ({"h": [{"s": 1}]}, {"h": [{"s": 2}]}, ["h[0].s"]),
        ({"h": [1, 2]}, {"h": [1]}, ["h[1]"]),
        ({"h": [1]}, {"h": "1"}, ["h"]),
    ],
)
def test_every_place_is_named(a, b, fields):
    assert [d.field for d in differences(a, b)] == fields

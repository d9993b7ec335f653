"""One table from domain errors to answers."""

from __future__ import annotations

import inspect

import pytest

from service.domain import errors
from service.http.errors import PROBLEMS

CLASSES = [
    c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__
]


@pytest.mark.parametrize("error", CLASSES)
def test_every_domain_error_has_its_row(error):
    assert error in PROBLEMS


def test_no_row_without_an_error():
    assert set(PROBLEMS) == set(CLASSES)


def test_the_tree_is_drawn_in_the_docstring():
    drawn = errors.__doc__ or ""
    assert all(c.__name__ in drawn for c in CLASSES)


def test_an_unexpected_error_shows_nothing_of_the_inside(start_server, parts, capsys):
    class Broken:
        identity = parts.nli().identity

        def classify(self, pairs):
            raise RuntimeError("secret inside /a/path")

    from dataclasses import replace

    live = start_server(with_parts=replace(parts, nli=Broken))
    with live.client() as client:
        live.wait()
        asked = {"source": "My unmistakable sentence.", "fact": "The user has a sentence."}
        answer = client.post("/check", json=asked)
        assert answer.status_code == 500
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["detail"] == "Something went wrong."
        assert "secret" not in answer.text
        assert client.get("/audit").json()["total"] == 0

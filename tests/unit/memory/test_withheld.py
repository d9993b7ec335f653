"""Secrets are blacked out, in place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.guards.secrets import holds_secret
from service.domain.withheld import without_secrets

SECRET = "My password is hunter-22-x"


def test_what_is_harmless_stays():
    assert without_secrets("I live in Rome. I like tea.") == ("I live in Rome. I like tea.", False)


def test_only_the_passage_is_blacked_out():
    text, found = without_secrets(f"I live in Rome. {SECRET}! I like tea.")
    assert found
    assert text.startswith("I live in Rome. ██")
    assert text.endswith("! I like tea.")


@pytest.mark.parametrize("secret", ["sk-live-abcdefghijklmnopqrst12", "4532 0151 1283 0366"])
def test_shapes_are_found_too(secret):
    text, found = without_secrets(f"Here: {secret} and more")
    assert found
    assert secret not in text


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_length_never_changes_and_no_secret_stays(before, after):
    whole = f"{before} {SECRET} {after}"
    text, found = without_secrets(whole)
    assert found == holds_secret(whole)
    assert len(text) == len(whole)
    assert not holds_secret(text)

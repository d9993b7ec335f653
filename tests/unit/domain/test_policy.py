"""Policies: validation, fingerprints, the legacy vector, and diffs."""

from __future__ import annotations

import hashlib
import json

import pytest

from service.domain.errors import InvalidInput
from service.domain.policy import (
    LEGACY_DEFAULT,
    Policy,
    diff,
    legacy_fingerprint,
    policy_from_body,
)


def test_the_fingerprint_is_the_hash_of_the_canonical_body() -> None:
    policy = Policy(name="strict", store_threshold=0.7)

    assert policy.fingerprint == hashlib.sha256(policy.canonical_body().encode()).hexdigest()
    assert policy_from_body(json.loads(policy.canonical_body())) == policy


def test_the_fingerprint_changes_with_every_field() -> None:
    seen = {Policy().fingerprint}
    for change in (
        {"name": "other"},
        {"version": "2"},
        {"store_threshold": 0.6},
        {"reject_on": ("contradicted",)},
        {"languages": ("en", "de")},
    ):
        seen.add(Policy(**change).fingerprint)

    assert len(seen) == 6


def test_minieval_default_keeps_its_fingerprint() -> None:
    assert legacy_fingerprint(LEGACY_DEFAULT) == "e7403d698e00"
    assert policy_from_body(LEGACY_DEFAULT).legacy_fingerprint == "e7403d698e00"


def test_minieval_renames_change_the_legacy_fingerprint() -> None:
    assert legacy_fingerprint({**LEGACY_DEFAULT, "name": "x"}) == "c3b41ca8dcd0"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"store_threshold": 7}, "body.store_threshold"),
        ({"min_relatedness": -3}, "body.min_relatedness"),
        ({"store_threshold": True}, "body.store_threshold"),
        ({"store_threshold": 0.12345678}, "body.store_threshold"),
        ({"store_threshold": "high"}, "body.store_threshold"),
        ({"check_attribution": 1}, "body.check_attribution"),
        ({"reject_on": ["unrelated"]}, "body.reject_on"),
        ({"reject_on": "contradicted"}, "body.reject_on"),
        ({"reject_on": ["secret", "secret"]}, "body.reject_on"),
        ({"guards": {"speech_act": "reject"}}, "body.guards.speech_act"),
        ({"guards": {"nonsense": "off"}}, "body.guards"),
        ({"guards": 3}, "body.guards"),
        ({"name": ""}, "body.name"),
        ({"name": 5}, "body.name"),
        ({"surprise": 1}, "body.surprise"),
    ],
)
def test_nonsense_is_refused_by_name(body: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        policy_from_body(body)

    assert refused.value.field == field


def test_diff_names_each_field_with_both_values() -> None:
    changed = Policy(store_threshold=0.7, guards=dict(Policy().guards) | {"secret": "reject"})

    assert diff(Policy(), changed) == [
        {"field": "guards.secret", "a": "review", "b": "reject"},
        {"field": "store_threshold", "a": 0.4, "b": 0.7},
    ]

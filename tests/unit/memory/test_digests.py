"""Digests cover everything, and mean the same for the same."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from service.domain.digests import content_digest, json_digest, sealed, state_digest
from service.domain.errors import InvalidInput
from service.domain.memory import Memory, MemoryStatus, MemoryType, Origin, Owner, Triple

OTHER = {
    "id": "mem_2",
    "owner": Owner("sub_2", "ana", "agent", "session"),
    "text": "x",
    "type": MemoryType.GOAL,
    "triple": Triple("user", "home", "Rome", polarity=False),
    "importance": 0.7,
    "origin": Origin("turn_2", "user", "I live in Rome", 0, 14, "h"),
    "verdict": "REVIEW",
    "decision_id": None,
    "policy_fingerprint": "q",
    "evidence": "ABC-1",
    "authority": "owner",
    "metadata": {"n": 2},
    "status": MemoryStatus.DELETED,
    "replaced_by": "mem_3",
    "supersedes": ("mem_0",),
    "supersession_reason": "r",
    "contested": True,
    "content_hash": "0",
}
TIMES = {"observed_at", "recorded_at"}
CHANGING_TIMES = {"updated_at", "valid_from", "valid_to", "superseded_at", "expires_at"}
CHANGING = {"status", "replaced_by", "supersedes", "supersession_reason", "contested"}
FIELDS = {f.name for f in dataclasses.fields(Memory)} - {"state_hash"}


def changed(memory, name):
    value = OTHER[name] if name in OTHER else memory.observed_at + timedelta(microseconds=1)
    return replace(memory, **{name: value})


def test_every_field_is_known_here():
    assert OTHER.keys() | TIMES | CHANGING_TIMES == FIELDS


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_the_state_covers_every_field(memory, name):
    assert state_digest(changed(memory, name)) != memory.state_hash


@pytest.mark.parametrize("name", sorted(FIELDS - CHANGING - CHANGING_TIMES - {"content_hash"}))
def test_the_content_covers_what_never_changes(memory, name):
    assert content_digest(changed(memory, name)) != memory.content_hash


@pytest.mark.parametrize("name", sorted(CHANGING | CHANGING_TIMES))
def test_the_content_leaves_out_what_changes(memory, name):
    assert content_digest(changed(memory, name)) == memory.content_hash


def test_the_same_moment_elsewhere_is_the_same(memory):
    there = memory.observed_at.astimezone(timezone(timedelta(hours=5)))
    assert sealed(replace(memory, observed_at=there)).state_hash == memory.state_hash


@pytest.mark.parametrize("value", [2**60, float("nan"), "\ud800"])
def test_what_json_cannot_carry_is_refused(value):
    with pytest.raises(InvalidInput):
        json_digest({"a": value})

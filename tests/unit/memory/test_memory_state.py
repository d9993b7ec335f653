"""Steps in the life of a memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain import memory_state
from service.domain.errors import Conflict
from service.domain.memory import MemoryStatus


@pytest.fixture
def at(memory):
    return memory.recorded_at + timedelta(days=1)


def test_superseded_and_restored(memory, at):
    old = memory_state.superseded(memory, by="mem_2", reason="moved", at=at, until=None)
    assert (old.status, old.replaced_by, old.valid_to) == (MemoryStatus.SUPERSEDED, "mem_2", at)
    back = memory_state.restored(old, at=at)
    assert replace(back, updated_at=memory.updated_at) == memory


def test_an_interval_never_ends_before_it_began_nor_later_than_known(memory, at):
    early, late = at - timedelta(days=9), at + timedelta(days=9)
    open_ended = replace(memory, valid_from=at)
    ended = memory_state.retracted(open_ended, reason="r", at=at, until=early)
    assert ended.valid_to == at
    known = replace(memory, valid_to=at)
    assert memory_state.retracted(known, reason="r", at=at, until=late).valid_to == at


def test_deleting_keeps_the_end_of_validity(memory, at):
    gone = memory_state.deleted(replace(memory, valid_to=at), at=at)
    assert (gone.status, gone.valid_to) == (MemoryStatus.DELETED, at)
    assert memory_state.restored(gone, at=at).valid_to == at


@pytest.mark.parametrize("status", [s for s in MemoryStatus if s is not MemoryStatus.ACTIVE])
def test_only_what_is_active_can_end(memory, at, status):
    ended = replace(memory, status=status)
    with pytest.raises(Conflict):
        memory_state.superseded(ended, by="mem_2", reason="r", at=at, until=None)
    with pytest.raises(Conflict):
        memory_state.retracted(ended, reason="r", at=at, until=None)


def test_what_is_there_already_is_refused(memory, at):
    with pytest.raises(Conflict):
        memory_state.restored(memory, at=at)
    with pytest.raises(Conflict):
        memory_state.deleted(memory_state.deleted(memory, at=at), at=at)

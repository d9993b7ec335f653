"""What recall keeps of memories decides as the whole memories do."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain import memory_state
from service.domain.memory import (
    Memory,
    MemoryAction,
    MemoryEvent,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    Triple,
)
from service.domain.recall.eligible import Filters, as_it_was, eligible, is_eligible, outline_then
from service.domain.recall.outline import Outline, Outlines, outline_of

NOW = datetime(2026, 11, 29, 17, tzinfo=UTC)
HOUR = timedelta(hours=1)
times = st.one_of(st.none(), st.integers(-3, 3).map(lambda n: NOW + n * HOUR))
names = st.sampled_from([None, "a", "b"])
outlines = st.builds(
    Outline,
    id=st.uuids().map(str),
    text=st.just("The user lives in Rome."),
    type=st.sampled_from(list(MemoryType)),
    status=st.sampled_from(list(MemoryStatus)),
    importance=st.just(0.5),
    agent_id=names,
    session_id=names,
    observed_at=times.map(lambda t: t or NOW),
    valid_from=times,
    valid_to=times,
    expires_at=times,
    closed=st.booleans(),
)
lasting = outlines.map(
    lambda o: o._replace(status=MemoryStatus.ACTIVE, valid_to=None, expires_at=None)
)
filters = st.one_of(
    st.just(Filters()),
    st.builds(
        Filters,
        agent_id=names,
        types=st.sampled_from([frozenset(), frozenset({"fact", "goal"})]),
        include_superseded=st.booleans(),
        as_of=times,
        valid_at=times,
        since=times,
        until=times,
    ),
)
MEMORY = Memory(
    id="mem_1",
    owner=Owner("sub_1", "ana", "agent", "session"),
    text="The user lives in Rome.",
    type=MemoryType.FACT,
    triple=Triple("user", "home", "Rome"),
    importance=0.6,
    status=MemoryStatus.ACTIVE,
    origin=Origin(None, "user", "I live in Rome", 0, 14, "o"),
    observed_at=NOW,
    recorded_at=NOW,
    updated_at=NOW,
    verdict="STORE",
    decision_id=None,
    policy_fingerprint="p",
    content_hash="c",
    state_hash="s",
)


@given(st.one_of(st.lists(outlines), st.lists(lasting)), filters)
def test_all_at_once_are_eligible_as_each_alone(given_, chosen):
    found = eligible(Outlines.of(given_), chosen, NOW)
    assert found == [is_eligible(one, chosen, NOW) for one in given_]


@given(st.lists(outlines, min_size=1), st.lists(outlines))
def test_columns_hold_what_was_put_in(some, more):
    kept = Outlines.of(some)
    before = list(kept)
    changed = some[0]._replace(status=MemoryStatus.DELETED)
    after = kept.put({0: changed}, more)
    assert list(after) == [changed, *some[1:], *more]
    assert [after[n] for n in range(len(after))] == list(after)
    assert list(kept) == before == some
    assert list(after.only([n % 2 == 0 for n in range(len(after))])) == list(after)[::2]
    assert list(Outlines().put({}, more)) == more


def changed(memory, action, at):
    match action:
        case MemoryAction.SUPERSEDED:
            return memory_state.superseded(memory, by="mem_2", reason="update", at=at, until=None)
        case MemoryAction.RETRACTED:
            return memory_state.retracted(memory, reason="wrong", at=at, until=None)
        case MemoryAction.DELETED:
            return memory_state.deleted(memory, at=at)
        case MemoryAction.RESTORED:
            return memory_state.restored(memory, at=at)
        case _:
            raise ValueError(action)


@pytest.mark.parametrize("valid_to", [None, NOW, NOW + 9 * HOUR])
@pytest.mark.parametrize(
    "actions",
    [
        "",
        "superseded",
        "retracted deleted",
        "superseded restored",
        "deleted restored retracted",
        "superseded restored superseded deleted restored",
    ],
)
def test_an_outline_was_what_its_memory_was(actions, valid_to):
    memory = replace(MEMORY, valid_to=valid_to)
    steps = [step(memory, MemoryAction.CREATED, NOW)]
    for n, name in enumerate(actions.split(), 1):
        at = NOW + n * HOUR
        memory = changed(memory, MemoryAction(name), at)
        steps.append(step(memory, MemoryAction(name), at))
    for many in range(len(steps) + 1):
        until = NOW + (many - 1) * HOUR
        then = as_it_was(memory, steps, lambda s, until=until: s.at <= until)
        outline = outline_then(outline_of(memory), steps, lambda s, until=until: s.at <= until)
        if then is None:
            assert outline is None
            continue
        assert (outline.status, outline.valid_to) == (then.status, then.valid_to)


def step(memory, action, at):
    return MemoryEvent(memory.id, memory.owner.subject_id, action, memory.status, at, "key")

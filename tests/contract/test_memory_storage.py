"""What every adapter of ``MemoryStore`` must do: memories and their history."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from service.domain.errors import Conflict as Clash
from service.domain.errors import GroundkeeperError, NotFound, Unavailable
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
from service.ports.memory import MemoryFilter
from service.ports.storage import Page, PageRequest, Scope, Transaction

ACME, OTHER = Scope("acme", "key_1"), Scope("other", "key_2")
START = datetime(2026, 11, 29, 17, 0, 0, 123456, tzinfo=UTC)
STATUS = MemoryStatus


def later(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.fixture
def full(memory) -> Callable:
    def full(owner: Owner, name: str = "full") -> Memory:
        """A memory with every field set, and none to its default."""
        return memory(
            replace(owner, agent_id="agent", session_id="session"),
            name,
            text="Żółw 猫 🐢",
            type=MemoryType.PROJECT_DETAIL,
            triple=Triple("user.brother", "likes", "猫 'quoted\" \\", polarity=False),
            importance=0.1 + 0.2,
            status=STATUS.SUPERSEDED,
            origin=Origin("turn_1", "assistant", "he\nsaid", 3, 10, "h" * 64),
            observed_at=later(-60),
            recorded_at=later(1),
            updated_at=later(2),
            verdict="REVIEW",
            decision_id="chk_9",
            policy_fingerprint="f9",
            valid_from=later(-3600),
            valid_to=later(-1800),
            superseded_at=later(3),
            expires_at=later(9),
            replaced_by="mem_next",
            supersedes=("mem_z", "mem_a"),
            supersession_reason="moved",
            evidence="repo://a.py#L1-L9",
            authority="owner",
            contested=True,
            metadata={"z": [1, 2.5, None, True], "a": {"é": "\x00", "big": 2**63}},
        )

    return full


def test_a_memory_that_is_added_is_what_reads_back(write, read, users, *, memory, turn, full):
    write(lambda tx: tx.turns.add(turn(users.alice)))
    east = START.astimezone(timezone(timedelta(hours=2)))
    for one in (full(users.alice), memory(users.alice, "east", observed_at=east, importance=1)):
        added = write(lambda tx, one=one: tx.memories.add(one))
        found = read(lambda tx, one=one: tx.memories.get(users.alice.subject_id, one.id))
        assert repr(added) == repr(found), "also where equal values are written differently"


def test_every_field_of_a_memory_comes_back(write, read, users, *, memory, turn, full):
    stored = full(users.alice)
    write(lambda tx: tx.turns.add(turn(users.alice)))
    write(lambda tx: tx.memories.add(stored))
    assert read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_full")) == stored
    plain = memory(users.alice, "plain", decision_id=None)
    write(lambda tx: tx.memories.add(plain))
    assert read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_plain")) == plain


def test_the_users_id_is_the_one_of_the_subject(write, read, users, memory):
    write(lambda tx: tx.memories.add(memory(replace(users.alice, user_id="forged"), "1")))
    found = read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_1"))
    assert found.owner.user_id == "alice@example.org"


def test_times_come_back_in_utc(write, read, users, memory):
    local = START.astimezone(timezone(timedelta(hours=5, minutes=30)))
    write(lambda tx: tx.memories.add(memory(users.alice, "1", observed_at=local)))
    found = read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_1"))
    assert found.observed_at == START
    assert found.observed_at.tzinfo is UTC


def test_an_update_writes_what_can_change_and_nothing_else(
    write, read, users, *, memory, turn, full
):
    first = memory(users.alice, "full")
    write(lambda tx: tx.turns.add(turn(users.alice)))
    write(lambda tx: tx.memories.add(first))
    write(lambda tx: tx.memories.add(memory(users.alice, "bystander")))
    wanted = replace(full(users.alice), state_hash="n" * 64)
    write(lambda tx: tx.memories.update(wanted))
    changing = (
        "status updated_at state_hash valid_from valid_to superseded_at expires_at replaced_by "
        "supersedes supersession_reason contested"
    )
    changes = {name: getattr(wanted, name) for name in changing.split()}
    alice = users.alice.subject_id
    assert read(lambda tx: tx.memories.get(alice, "mem_full")) == replace(first, **changes)
    untouched = memory(users.alice, "bystander")
    assert read(lambda tx: tx.memories.get(alice, "mem_bystander")) == untouched
    write(lambda tx: tx.memories.update(first))
    assert read(lambda tx: tx.memories.get(alice, "mem_full")) == first


def test_only_what_is_there_can_be_updated(write, read, users, memory):
    write(lambda tx: tx.memories.add(memory(users.alice, "1")))
    for owner, scope in ((users.bob, ACME), (users.alice, OTHER)):
        changed = memory(owner, "1", contested=True)
        with pytest.raises(NotFound):
            write(lambda tx, changed=changed: tx.memories.update(changed), scope)
    assert not read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_1")).contested


def test_memories_are_seen_by_their_user_and_tenant_only(write, read, users, turn, full):
    alice, bob = users.alice.subject_id, users.bob.subject_id
    write(lambda tx: tx.turns.add(turn(users.alice)))
    write(lambda tx: tx.memories.add(replace(full(users.alice), status=STATUS.ACTIVE)))
    write(lambda tx: tx.memories.record(event(users.alice, "full", MemoryAction.CREATED)))

    def nothing(subject: str) -> Callable[[Transaction], None]:
        def look(tx: Transaction) -> None:
            assert tx.memories.get(subject, "mem_full") is None
            assert list(tx.memories.many(subject, ["mem_full"])) == []
            assert tx.memories.list(MemoryFilter(subject), PageRequest()) == Page((), None, 0)
            assert list(tx.memories.active(subject)) == []
            assert list(tx.memories.about(subject, "user.brother")) == []
            assert list(tx.memories.of_turn(subject, "turn_1")) == []
            assert list(tx.memories.history(subject, ["mem_full"])) == []
            assert tx.memories.scopes(subject) == (frozenset(), frozenset())

        return look

    read(nothing(bob))
    read(nothing("sub_unknown"))
    read(nothing(alice), OTHER)
    read(nothing(users.foreign.subject_id), OTHER)
    assert len(read(lambda tx: tx.memories.active(alice))) == 1


def test_two_tenants_can_use_the_same_id(write, read, users, memory):
    write(lambda tx: tx.memories.add(memory(users.alice, "1")))
    theirs = memory(users.foreign, "1", text="theirs")
    write(lambda tx: tx.memories.add(theirs), OTHER)
    assert read(lambda tx: tx.memories.get(users.foreign.subject_id, "mem_1"), OTHER) == theirs


def test_a_memory_needs_a_new_id_its_user_and_its_turn(write, read, users, memory, turn):
    write(lambda tx: tx.memories.add(memory(users.alice, "1")))
    write(lambda tx: tx.turns.add(turn(users.foreign)), OTHER)
    refused = [
        memory(users.alice, "1"),
        memory(users.bob, "1"),
        memory(users.foreign, "2"),
        memory(Owner("sub_unknown", "x"), "2"),
        memory(users.alice, "2", origin=Origin("turn_1", "user", "", 0, 0, "")),
    ]
    for each in refused:
        with pytest.raises(Clash):
            write(lambda tx, each=each: tx.memories.add(each))
    assert len(read(lambda tx: tx.memories.active(users.alice.subject_id))) == 1


def test_many_keeps_the_order_asked(write, read, users, memory):
    def fill(tx):
        for number in range(1200):
            tx.memories.add(memory(users.alice, f"{number}"))
        tx.memories.add(memory(users.bob, "bob"))

    write(fill)
    alice = users.alice.subject_id
    asked = [f"mem_{number}" for number in range(1199, -1, -1)]
    found = read(lambda tx: tx.memories.many(alice, ["mem_none", *asked, "mem_bob", "mem_5"]))
    assert [each.id for each in found] == asked
    assert list(read(lambda tx: tx.memories.many(alice, []))) == []


def test_active_about_and_of_turn_are_oldest_first(write, read, users, memory, turn):
    origin = Origin("turn_1", "user", "", 0, 0, "")
    brother = Triple("user.brother", "home", "Lyon")

    def fill(tx: Transaction) -> None:
        tx.turns.add(turn(users.alice))
        tx.memories.add(memory(users.alice, "z", origin=origin))
        tx.memories.add(memory(users.alice, "y", triple=brother, status=STATUS.DELETED))
        tx.memories.add(memory(users.alice, "x", triple=brother, origin=origin))
        tx.memories.add(memory(users.alice, "w", status=STATUS.SUPERSEDED, origin=origin))

    write(fill)
    alice = users.alice.subject_id

    def ids(work: Callable) -> str:
        return "".join(each.id.removeprefix("mem_") for each in read(work))

    assert ids(lambda tx: tx.memories.active(alice)) == "zx"
    assert ids(lambda tx: tx.memories.about(alice, "user.brother")) == "yx"
    assert ids(lambda tx: tx.memories.about(alice, "USER.BROTHER")) == ""
    assert ids(lambda tx: tx.memories.of_turn(alice, "turn_1")) == "zxw"


def test_scopes_are_those_of_memories_and_turns(write, read, users, memory, turn):
    alice = users.alice

    def fill(tx: Transaction) -> None:
        tx.memories.add(memory(replace(alice, agent_id="a1"), "1", status=STATUS.DELETED))
        tx.memories.add(memory(replace(alice, agent_id="a1", session_id="s1"), "2"))
        tx.turns.add(turn(replace(alice, agent_id="a2", session_id="s2")))
        tx.turns.add(turn(replace(users.bob, agent_id="bob", session_id="bob"), "2"))

    write(fill)
    expected = (frozenset({"a1", "a2"}), frozenset({"s1", "s2"}))
    assert read(lambda tx: tx.memories.scopes(alice.subject_id)) == expected


# History


def event(owner: Owner, name: str, action: MemoryAction, **given) -> MemoryEvent:
    return MemoryEvent(
        memory_id=f"mem_{name}",
        subject_id=owner.subject_id,
        action=action,
        status=STATUS.ACTIVE,
        at=START,
        actor="acme:key_1",
        **given,
    )


def test_history_is_complete_and_oldest_first(write, read, users, memory):
    alice = users.alice
    extra = {"reason": "moved", "other_id": "mem_2", "seq": 7}
    steps = [
        event(alice, "1", MemoryAction.CREATED),
        event(alice, "2", MemoryAction.CREATED),
        event(alice, "1", MemoryAction.SUPERSEDED, **extra),
        event(alice, "3", MemoryAction.CREATED),
    ]
    for name in "123":
        write(lambda tx, name=name: tx.memories.add(memory(alice, name)))
    for step in steps:
        write(lambda tx, step=step: tx.memories.record(step))

    def history(*names: str) -> list[MemoryEvent]:
        ids = [f"mem_{name}" for name in names]
        return list(read(lambda tx: tx.memories.history(alice.subject_id, ids)))

    assert history("2", "1", "1") == steps[:3]
    assert history("1") == [steps[0], steps[2]]
    assert history("3", *(f"none{number}" for number in range(1200)), "1") == steps[:1] + steps[2:]
    assert history() == []
    with pytest.raises(Clash):
        write(lambda tx: tx.memories.record(event(alice, "9", MemoryAction.CREATED)))


# What cannot be


@pytest.mark.parametrize(
    "given",
    [
        {"text": "\ud800"},
        {"text": "ñ\ud800"},
        {"metadata": {"a": float("nan")}},
        {"metadata": {"a": (1, 2)}},
        {"metadata": {"a": 2**70}},
        {"metadata": {"a": "\ud800"}},
        {"metadata": {"a": START}},
        {"metadata": {1: "a"}},
        {"metadata": {"a": object()}},
        {"valid_from": START.replace(tzinfo=None)},
        {"valid_to": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))},
        {"importance": float("nan")},
        {"origin": Origin(None, "user", "", 2**70, 0, "")},
    ],
)
def test_what_cannot_be_stored_is_a_domain_error(write, read, users, given, memory):
    with pytest.raises(GroundkeeperError) as refused:
        write(lambda tx: tx.memories.add(memory(users.alice, "1", **given)))
    assert not isinstance(refused.value, Unavailable)
    assert read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_1")) is None

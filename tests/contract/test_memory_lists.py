"""What every adapter of ``MemoryStore.list`` must do: filters, searching, pages."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from service.domain.errors import InvalidInput
from service.domain.memory import (
    MemoryStatus,
    MemoryType,
    Triple,
)
from service.ports.memory import MemoryFilter
from service.ports.storage import PageRequest, Scope, Transaction

ACME, OTHER = Scope("acme", "key_1"), Scope("other", "key_2")
START = datetime(2026, 11, 29, 17, 0, 0, 123456, tzinfo=UTC)
STATUS = MemoryStatus


def later(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.fixture
def found(write, read, users, memory) -> Callable[..., list[str]]:
    """Six memories of Alice that differ in everything a filter looks at, and one of Bob."""
    scoped = replace(users.alice, agent_id="agent", session_id="session")
    brother = Triple("user.brother", "employer", "Renault")

    def fill(tx: Transaction) -> None:
        add = tx.memories.add
        add(memory(users.alice, "a"))
        add(memory(scoped, "b", recorded_at=later(1), type=MemoryType.GOAL))
        add(memory(replace(scoped, session_id="s2"), "c", recorded_at=later(2), triple=brother))
        add(memory(users.alice, "d", recorded_at=later(3), contested=True, triple=brother))
        add(memory(users.alice, "e", recorded_at=later(4), status=STATUS.SUPERSEDED))
        add(memory(scoped, "f", recorded_at=later(5), status=STATUS.RETRACTED, triple=brother))
        add(memory(users.bob, "g"))

    write(fill)

    def found(**conditions) -> list[str]:
        which = MemoryFilter(users.alice.subject_id, **conditions)
        page = read(lambda tx: tx.memories.list(which, PageRequest()))
        assert page.total == len(page.items)
        return [each.id.removeprefix("mem_") for each in page.items]

    return found


def test_each_filter(found):
    assert found() == ["d", "c", "b", "a"]
    assert found(statuses=()) == ["f", "e", "d", "c", "b", "a"]
    assert found(statuses=(STATUS.SUPERSEDED, STATUS.RETRACTED)) == ["f", "e"]
    assert found(statuses=(STATUS.DELETED,)) == []
    assert found(agent_id="agent") == ["c", "b"]
    assert found(session_id="session") == ["b"]
    assert found(type="goal") == ["b"]
    assert found(subject="user.brother") == ["d", "c"]
    assert found(attribute="home") == ["b", "a"]
    assert found(contested=True) == ["d"]
    assert found(contested=False) == ["c", "b", "a"]
    assert found(since=later(2)) == ["d", "c"]
    assert found(until=later(2)) == ["b", "a"]
    assert found(q="LYON") == ["d", "c", "b", "a"]
    assert found(q="") == ["d", "c", "b", "a"]
    assert found(q="Paris") == []


def test_filters_are_all_applied(found):
    brother = {"subject": "user.brother", "attribute": "employer"}
    assert found(statuses=(), agent_id="agent", session_id="session") == ["f", "b"]
    assert found(statuses=(), **brother, agent_id="agent") == ["f", "c"]
    assert found(**brother, contested=False, q="lyon", type="fact") == ["c"]
    assert found(**brother, since=later(3), until=later(4)) == ["d"]
    assert found(**brother, type="goal") == []
    assert found(subject="user", attribute="employer") == []
    assert found(agent_id="agent", session_id="other") == []
    assert found(since=later(2), until=later(2)) == []


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Moved to ŁÓDŹ", ["łódź", "Łódź", "ó", "MOVED"]),
        ("Caf\u00e9 cre\u0300me", ["CAFE\u0301", "cr\u00c8me", "caf\u00e9 cr\u00e8me"]),
        ("Die STRASSE", ["straße", "Straße", "strasse"]),
        ("ΟΔΥΣΣΕΥΣ", ["οδυσσευς", "Οδυσσεύς".replace("ύ", "υ")]),
        ("東京に住んでいる", ["東京", "住んで", "京に"]),
        ("ＡＢＣ ｶﾅ 한국어", ["abc", "カナ", "한국"]),
        ("İstanbul IĞDIR", ["istanbul", "İSTANBUL", "ığdır".replace("ı", "i")]),
        ("100% sure_thing 'x'", ["100%", "E_T", "'X'"]),
        ("before\x00After", ["after", "\x00a"]),
    ],
)
def test_text_is_found_in_any_case_width_and_composition(
    write, read, users, memory, *, text, queries
):
    write(lambda tx: tx.memories.add(memory(users.alice, "1", text=text)))
    write(lambda tx: tx.memories.add(memory(users.alice, "2", text="100 sureXthing, nothing")))
    for q in queries:
        which = MemoryFilter(users.alice.subject_id, q=q)
        page = read(lambda tx, which=which: tx.memories.list(which, PageRequest()))
        assert [each.id for each in page.items] == ["mem_1"], q
    assert page.items[0].text == text


def test_pages_are_stable_while_memories_are_added(write, read, users, memory, paged):
    names = [f"{number}" for number in range(7)]
    for name in names:
        write(lambda tx, name=name: tx.memories.add(memory(users.alice, name)))
    added = iter(range(100, 200))

    def more() -> None:
        for owner in (users.alice, users.bob):
            write(lambda tx, owner=owner: tx.memories.add(memory(owner, f"{next(added)}")))

    which = MemoryFilter(users.alice.subject_id)
    seen = paged(lambda page: read(lambda tx: tx.memories.list(which, page)), 3, more)
    assert [each.id for each in seen] == [f"mem_{name}" for name in names[::-1]]
    assert read(lambda tx: tx.memories.list(which, PageRequest(1))).total == 9


def test_the_total_counts_the_whole_list(write, read, users, memory):
    for number in range(5):
        made = memory(users.alice, f"{number}", contested=number % 2 == 0)
        write(lambda tx, made=made: tx.memories.add(made))
    which = MemoryFilter(users.alice.subject_id, contested=True, q="lyon")
    first = read(lambda tx: tx.memories.list(which, PageRequest(2)))
    rest = read(lambda tx: tx.memories.list(which, PageRequest(2, first.next_cursor)))
    assert [each.id for each in first.items + rest.items] == ["mem_4", "mem_2", "mem_0"]
    assert (first.total, rest.total, rest.next_cursor) == (3, 3, None)


@pytest.mark.parametrize("page", [PageRequest(0), PageRequest(201), PageRequest(cursor="x")])
def test_a_page_that_cannot_be_is_refused(read, users, page):
    subject = users.alice.subject_id
    for work in (
        lambda tx: tx.memories.list(MemoryFilter(subject), page),
        lambda tx: tx.conflicts.list(subject, page),
        lambda tx: tx.reviews.list(page),
        lambda tx: tx.lessons.list(page),
    ):
        with pytest.raises(InvalidInput):
            read(work)

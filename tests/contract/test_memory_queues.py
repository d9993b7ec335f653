"""What every adapter of the stores around memories must do."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from service.domain.errors import Conflict as Clash
from service.domain.errors import InvalidInput, NotFound
from service.domain.memory import (
    Conflict,
    ConflictStatus,
    Lesson,
    Owner,
    Review,
    ReviewStatus,
)
from service.ports.storage import PageRequest, Scope, Transaction

ACME, OTHER = Scope("acme", "key_1"), Scope("other", "key_2")
START = datetime(2026, 11, 29, 17, 0, 0, 123456, tzinfo=UTC)


def later(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


# Turns


def test_turns_come_back_to_their_tenant(write, read, users, turn):
    first = turn(replace(users.alice, agent_id="a", session_id="s"), "z")
    second = turn(users.alice, "a", role="tool", text="", language="fr")
    for each in (first, second, turn(users.bob, "bob")):
        write(lambda tx, each=each: tx.turns.add(each))
    assert read(lambda tx: tx.turns.get("turn_z")) == first
    assert read(lambda tx: tx.turns.get("turn_none")) is None
    assert read(lambda tx: tx.turns.get("turn_z"), OTHER) is None
    alice = users.alice.subject_id
    assert list(read(lambda tx: tx.turns.of_subject(alice))) == [first, second]
    assert list(read(lambda tx: tx.turns.of_subject(alice), OTHER)) == []
    with pytest.raises(Clash):
        write(lambda tx: tx.turns.add(first))


# Conflicts


def conflict(owner: Owner, name: str, first: str = "mem_1", second: str = "mem_2") -> Conflict:
    return Conflict(
        id=f"con_{name}",
        subject_id=owner.subject_id,
        first=first,
        second=second,
        reason="two homes",
        confidence=0.9,
        status=ConflictStatus.OPEN,
        marked_at=START,
        marked_by="acme:key_1",
    )


def resolved(one: Conflict) -> Conflict:
    return replace(
        one,
        status=ConflictStatus.RESOLVED,
        kept="mem_2",
        resolution="asked",
        resolved_at=later(5),
        resolved_by="acme:key_9",
    )


def test_conflicts_are_marked_listed_and_resolved(write, read, users, memory, paged):
    alice = users.alice.subject_id
    for name in "123":
        write(lambda tx, name=name: tx.memories.add(memory(users.alice, name)))
    a, b, c = (
        conflict(users.alice, "a"),
        conflict(users.alice, "b", "mem_3", "mem_1"),
        conflict(users.alice, "c", "mem_2", "mem_3"),
    )
    for each in (a, b, c):
        write(lambda tx, each=each: tx.conflicts.add(each))
    assert read(lambda tx: tx.conflicts.get(alice, "con_a")) == a
    assert list(read(lambda tx: tx.conflicts.open_with(alice, "mem_1"))) == [a, b]
    done = resolved(a)
    write(lambda tx: tx.conflicts.update(replace(done, reason="never written")))
    assert read(lambda tx: tx.conflicts.get(alice, "con_a")) == done
    assert list(read(lambda tx: tx.conflicts.open_with(alice, "mem_1"))) == [b]

    def listed(**options) -> list[Conflict]:
        return paged(lambda page: read(lambda tx: tx.conflicts.list(alice, page, **options)), 1)

    assert listed() == [c, b]
    assert listed(open_only=False) == [c, b, done]
    assert read(lambda tx: tx.conflicts.list(alice, PageRequest(1))).total == 2


def test_conflicts_are_seen_by_their_user_and_tenant_only(write, read, users, memory):
    for name in "12":
        write(lambda tx, name=name: tx.memories.add(memory(users.alice, name)))
    mine = conflict(users.alice, "a")
    write(lambda tx: tx.conflicts.add(mine))
    bob, alice = users.bob.subject_id, users.alice.subject_id
    for subject, scope in ((bob, ACME), (alice, OTHER)):
        assert read(lambda tx, s=subject: tx.conflicts.get(s, "con_a"), scope) is None
        assert read(lambda tx, s=subject: tx.conflicts.list(s, PageRequest()), scope).total == 0
        assert not read(lambda tx, s=subject: tx.conflicts.open_with(s, "mem_1"), scope)
        with pytest.raises(NotFound):
            stolen = replace(resolved(mine), subject_id=subject)
            write(lambda tx, stolen=stolen: tx.conflicts.update(stolen), scope)
    assert read(lambda tx: tx.conflicts.get(alice, "con_a")) == mine
    for refused in (mine, conflict(users.alice, "b", second="mem_none")):
        with pytest.raises(Clash):
            write(lambda tx, refused=refused: tx.conflicts.add(refused))


# Reviews


def review(owner: Owner, name: str) -> Review:
    return Review(
        id=f"rev_{name}",
        subject_id=owner.subject_id,
        status=ReviewStatus.OPEN,
        text="The user may move",
        reason_code="question_or_hypothetical",
        reason="Only a plan.",
        candidate={"fact": {"text": "…"}, "at": [1, 2]},
        decision_id="chk_1",
        opened_at=START,
    )


def closed(one: Review, by: str = "key_1", status: ReviewStatus = ReviewStatus.APPROVED) -> Review:
    return replace(
        one, status=status, closed_at=later(9), closed_by=by, note="fine", memory_id="mem_1"
    )


def test_a_review_comes_back_open_and_closed(write, read, users):
    opened = review(users.alice, "1")
    write(lambda tx: tx.reviews.add(opened))
    assert read(lambda tx: tx.reviews.get("rev_1")) == opened
    assert read(lambda tx: tx.reviews.get("rev_none")) is None
    assert read(lambda tx: tx.reviews.get("rev_1"), OTHER) is None
    done = closed(opened)
    assert write(lambda tx: tx.reviews.close(replace(done, text="never written")))
    assert read(lambda tx: tx.reviews.get("rev_1")) == done
    assert not write(lambda tx: tx.reviews.close(closed(opened, status=ReviewStatus.REJECTED)))
    assert read(lambda tx: tx.reviews.get("rev_1")) == done
    with pytest.raises(Clash):
        write(lambda tx: tx.reviews.add(opened))


def test_only_an_end_closes_and_only_ones_own(write, read, users):
    opened = review(users.alice, "1")
    write(lambda tx: tx.reviews.add(opened))
    with pytest.raises(InvalidInput):
        write(lambda tx: tx.reviews.close(opened))
    assert not write(lambda tx: tx.reviews.close(closed(opened)), OTHER)
    foreign = replace(closed(opened), subject_id=users.bob.subject_id)
    assert not write(lambda tx: tx.reviews.close(foreign))
    assert not write(lambda tx: tx.reviews.close(closed(review(users.alice, "none"))))
    assert read(lambda tx: tx.reviews.get("rev_1")) == opened


def test_a_review_is_closed_exactly_once_by_eight_threads(write, read, users):
    names = [f"{number}" for number in range(20)]
    for name in names:
        write(lambda tx, name=name: tx.reviews.add(review(users.alice, name)))

    def close(thread: int) -> list[str]:
        return [
            name
            for name in names
            if write(
                lambda tx, n=name: tx.reviews.close(closed(review(users.alice, n), f"{thread}"))
            )
        ]

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(close, range(8)))
    assert sorted(name for mine in won for name in mine) == sorted(names)
    for thread, mine in enumerate(won):
        for name in mine:
            assert read(lambda tx, n=name: tx.reviews.get(f"rev_{n}")).closed_by == f"{thread}"


def test_reviews_are_listed_by_user_and_status(write, read, users, paged):
    a, b, c = review(users.alice, "a"), review(users.bob, "b"), review(users.alice, "c")
    for each in (a, b, c):
        write(lambda tx, each=each: tx.reviews.add(each))
    ended = closed(a, status=ReviewStatus.REJECTED)
    write(lambda tx: tx.reviews.close(ended))

    def listed(scope: Scope = ACME, **options) -> list[Review]:
        found = paged(lambda page: read(lambda tx: tx.reviews.list(page, **options), scope), 1)
        page = read(lambda tx: tx.reviews.list(PageRequest(1), **options), scope)
        assert page.total == len(found)
        return found

    alice = users.alice.subject_id
    assert listed() == [c, b, ended]
    assert listed(status=ReviewStatus.OPEN) == [c, b]
    assert listed(status=ReviewStatus.APPROVED) == []
    assert listed(subject_id=alice) == [c, ended]
    assert listed(subject_id=alice, status=ReviewStatus.REJECTED) == [ended]
    assert listed(OTHER) == []


# Attributes, lessons, outbox


def test_the_last_declaration_of_an_attribute_holds(write, read):
    for name, functional in (("home", True), ("likes", False), ("home", False), ("home", True)):
        write(lambda tx, n=name, f=functional: tx.attributes.set(n, functional=f))
    write(lambda tx: tx.attributes.set("likes", functional=True), OTHER)
    assert read(lambda tx: tx.attributes.all()) == {"home": True, "likes": False}
    assert read(lambda tx: tx.attributes.all(), OTHER) == {"likes": True}


def lesson(owner: Owner | None, name: str, *applies_to: str) -> Lesson:
    subject = owner.subject_id if owner else None
    return Lesson(f"les_{name}", subject, "Ask first", "PR 7", applies_to, START, "acme:key_1")


def test_lessons_are_everybodys_or_ones_own(write, read, users, paged):
    everybody = lesson(None, "z", "deploy", 'a"b,c')
    mine = lesson(users.alice, "y", "deploy")
    theirs = lesson(users.bob, "x")
    for each in (everybody, mine, theirs):
        write(lambda tx, each=each: tx.lessons.add(each))

    def listed(scope: Scope = ACME, **options) -> list[Lesson]:
        found = paged(lambda page: read(lambda tx: tx.lessons.list(page, **options), scope), 1)
        page = read(lambda tx: tx.lessons.list(PageRequest(1), **options), scope)
        assert page.total == len(found)
        return found

    alice = users.alice.subject_id
    assert listed() == [everybody]
    assert listed(subject_id=alice) == [mine, everybody]
    assert listed(subject_id=users.bob.subject_id) == [theirs, everybody]
    assert listed(subject_id=alice, applies_to="deploy") == [mine, everybody]
    assert listed(subject_id=alice, applies_to='a"b,c') == [everybody]
    for other in ("dep", "Deploy", ",", '","', ""):
        assert listed(subject_id=alice, applies_to=other) == []
    assert listed(OTHER) == []
    with pytest.raises(Clash):
        write(lambda tx: tx.lessons.add(mine))


def test_the_outbox_is_in_order_and_forgetting_twice_changes_nothing(write, read):
    def pending(limit: int = 10, scope: Scope = ACME) -> list[tuple[int, str]]:
        items = read(lambda tx: tx.outbox.pending(limit), scope)
        return [(item.position, item.memory_id) for item in items]

    for name in ("m2", "m1", "m2"):
        write(lambda tx, name=name: tx.outbox.put(name))
        write(lambda tx: tx.outbox.put("theirs"), OTHER)
    items = pending()
    assert [name for _, name in items] == ["m2", "m1", "m2"]
    assert items == sorted(items)
    assert pending(2) == items[:2]
    second = items[1][0]
    for up_to in (second, second, items[0][0], -1):
        write(lambda tx, up_to=up_to: tx.outbox.done(up_to))
        assert pending() == items[2:]
    assert len(pending(scope=OTHER)) == 3
    last = items[-1][0]
    write(lambda tx: tx.outbox.done(last + 1000))
    write(lambda tx: tx.outbox.done(last + 1000), OTHER)
    assert pending() == []
    write(lambda tx: tx.outbox.put("m3"))
    assert pending()[0][0] > last


def test_a_change_and_its_outbox_item_are_kept_or_lost_together(write, read, users, memory):
    def work(tx: Transaction) -> None:
        tx.memories.add(memory(users.alice, "1"))
        tx.outbox.put("mem_1")
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        write(work)
    assert read(lambda tx: tx.memories.get(users.alice.subject_id, "mem_1")) is None
    assert not read(lambda tx: tx.outbox.pending(1))

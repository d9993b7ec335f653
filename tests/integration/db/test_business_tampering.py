"""Business rows that somebody changed while the log stayed as it was."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from service.domain.digests import lesson_digest, review_digest, text_digest
from service.domain.memory import (
    Conflict,
    ConflictStatus,
    Lesson,
    MemoryAction,
    Origin,
    Review,
    ReviewStatus,
    Turn,
)
from service.ports.storage import EntryDraft, Scope
from service.usecases.journal import Journal, Step
from tests.faults.deeds import remember

SCOPE = Scope("default", "key_1")
NOW = datetime(2026, 11, 29, 17, tzinfo=UTC)


@pytest.fixture
def filled(open_it) -> None:
    """Two memories in conflict, one from a message, a review and a lesson."""
    database = open_it()
    first, second = (remember(database, key, f"I live in {key}.") for key in ("Lyon", "Nice"))

    def fill(tx) -> None:
        subject = tx.subjects.find("alice")
        memories = [tx.memories.get(subject, one.memory_id) for one in (first, second)]
        conflict = Conflict(
            "con_1",
            subject,
            *(m.id for m in memories),
            "two homes",
            0.5,
            ConflictStatus.OPEN,
            NOW,
            SCOPE.actor,
        )
        Journal(tx, subject, NOW).mark(conflict, *memories)
        text = "I live in Lyon."
        owner = memories[0].owner
        turn = Turn("turn_1", owner, "user", text, "en", text_digest(text), NOW, NOW)
        tx.turns.add(turn)
        origin = Origin("turn_1", "user", text, 0, len(text), turn.content_hash)
        said = replace(memories[0], id="mem_said", origin=origin)
        Journal(tx, subject, NOW).write(Step(MemoryAction.CREATED, said))
        review = Review(
            "rev_1", subject, ReviewStatus.OPEN, "text", "unsupported", "why", {}, None, NOW
        )
        tx.reviews.add(review)
        lesson = Lesson("les_1", None, "Ask first.", "it helped", ("check",), NOW, SCOPE.actor)
        tx.lessons.add(lesson)
        for kind, thing, digest, whose in [
            ("review.opened", review, review_digest(review), subject),
            ("lesson.recorded", lesson, lesson_digest(lesson), None),
        ]:
            draft = EntryDraft(
                kind, SCOPE.actor, subject=whose, memory=(thing.id,), state_after=digest
            )
            tx.audit.append(draft, {})

    database.write(SCOPE, fill)
    database.close()


@pytest.fixture
def problems_after(filled, tamper, open_it, check):
    def problems_after(*statements: str) -> tuple[str, ...]:
        tamper("PRAGMA foreign_keys = OFF", *statements)
        report = check(open_it())
        assert report.levels[1].ok
        return report.levels[5].problems

    return problems_after


def test_what_nobody_changed_is_good(problems_after):
    assert problems_after() == ()


FIRST = "position = (SELECT min(position) FROM memory)"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (f"UPDATE memory SET text = 'I live in Oslo.' WHERE {FIRST}", "its state is not the one"),
        (f"UPDATE memory SET status = 'deleted' WHERE {FIRST}", "its state is not the one"),
        (f"UPDATE memory SET metadata = 'no json' WHERE {FIRST}", "cannot be read"),
        (f"UPDATE memory SET state_hash = content_hash WHERE {FIRST}", "its state is not the one"),
        (f"UPDATE memory SET tenant = 'other' WHERE {FIRST}", "belongs to somebody else"),
        (f"DELETE FROM memory WHERE {FIRST}", "is gone from the tables"),
        (f"UPDATE memory SET id = 'mem_2' WHERE {FIRST}", "mem_2: there is no entry about it"),
        ("UPDATE conflict SET resolution = 'settled'", "conflict con_1: its state is not the one"),
        ("DELETE FROM conflict", "con_1: is gone from the tables"),
        ("UPDATE review SET reason = 'because'", "review rev_1: its state is not the one"),
        ("UPDATE lesson SET text = 'Never ask.'", "lesson les_1: its state is not the one"),
        ("UPDATE decision SET verdict = 'REJECT' WHERE seq = 2", "verdict not as entry 2 says"),
        ("DELETE FROM decision WHERE seq = 2", "entry 2: its check.decided is gone"),
        ("UPDATE decision SET seq = 99 WHERE seq = 2", "entry 99 is not about it, or not there"),
        ("UPDATE memory_event SET action = 'deleted' WHERE seq = 1", "action not as entry 1 says"),
        ("DELETE FROM memory_event WHERE seq = 1", "entry 1: its memory.created is gone"),
        ("UPDATE memory_event SET seq = NULL WHERE seq = 1", "entry -1 is not about it"),
        ("UPDATE subject SET user_id = 'mallory'", "its state is not the one"),
        ("DELETE FROM subject", "its state is not the one"),
        ("UPDATE turn SET text = 'I live in Oslo.'", "the message it came from was changed"),
        ("DELETE FROM turn", "the message it came from is gone"),
    ],
)
def test_a_changed_row_is_found(problems_after, statement, said):
    found = problems_after(statement)
    assert any(said in problem for problem in found), found

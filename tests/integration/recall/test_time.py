"""Status and time: what was known, what held, what is hidden."""

from datetime import UTC, datetime, timedelta

import pytest

from service.domain import memory_state
from service.domain.memory import MemoryAction
from service.evaluation.recall_store import SCOPE
from service.usecases.journal import Journal, Step

WHERE = "Where does the user live?"
MOVED = [
    {"fact": "The user lives in Bath.", "status": "superseded", "superseded_by": "new",
     "valid_from": "2020-01-01", "valid_to": "2026-01-01", "observed_at": "2025-01-01"},
    {"id": "new", "fact": "The user lives in York.", "valid_from": "2026-01-01",
     "observed_at": "2026-01-01"},
]  # fmt: skip
BATH, YORK = "The user lives in Bath.", "The user lives in York."


def day(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_only_active_ones_by_default_and_history_on_request(store, texts):
    store.seed(MOVED, "u")
    assert texts(store.ask(WHERE, "u")) == [YORK]
    both = store.ask(WHERE, "u", include_superseded=True)
    assert set(texts(both)) == {BATH, YORK}
    old = next(a.hit.memory for a in both.answers if a.hit.memory.text == BATH)
    assert old.status.value == "superseded"
    assert old.replaced_by.startswith("mem_")


def test_what_held_at_a_time(store, texts):
    store.seed(MOVED, "u")
    assert texts(store.ask(WHERE, "u", valid_at=day("2024-06-01"))) == [BATH]
    assert texts(store.ask(WHERE, "u", valid_at=day("2026-06-01"))) == [YORK]
    assert texts(store.ask(WHERE, "u", valid_at=day("2019-06-01"))) == []


def retire(store, memory, at):
    def work(tx):
        after = memory_state.superseded(memory, by="mem_x", reason="update", at=at, until=None)
        journal = Journal(tx, memory.owner.subject_id, at)
        journal.write(Step(MemoryAction.SUPERSEDED, after, memory, "update", "mem_x"))

    store.database.write(SCOPE, work)


def test_what_was_known_at_a_time(store, texts):
    before = store.clock.now() - timedelta(seconds=1)
    (old,) = store.seed([{"fact": BATH}], "u")
    then = store.clock.now()
    retire(store, old, store.clock.now() + timedelta(milliseconds=1))
    store.seed([{"fact": YORK}], "u")
    found = store.ask(WHERE, "u", as_of=then)
    assert texts(found) == [BATH]
    memory = found.answers[0].hit.memory
    assert (memory.status.value, memory.replaced_by, memory.valid_to) == ("active", None, None)
    assert texts(store.ask(WHERE, "u")) == [YORK]
    assert texts(store.ask(WHERE, "u", as_of=before)) == []


def test_since_and_until_are_about_when_it_was_said(store, texts):
    store.seed([{"fact": BATH, "observed_at": "2025-01-01"}, MOVED[1]], "u")
    assert texts(store.ask(WHERE, "u", since=day("2025-06-01"))) == [YORK]
    assert texts(store.ask(WHERE, "u", until=day("2025-06-01"))) == [BATH]


@pytest.mark.parametrize("field", ["expires_at", "valid_to"])
def test_what_is_over_is_hidden(store, texts, field):
    store.seed([{"fact": BATH, field: "2000-01-01"}, {"fact": YORK, field: "2999-01-01"}], "u")
    assert texts(store.ask(WHERE, "u")) == [YORK]


class LaterClock:
    def __init__(self, clock, by):
        self._clock, self._by = clock, by

    def now(self):
        return self._clock.now() + self._by


def test_something_that_expires_disappears_without_a_write(store, texts, monkeypatch):
    soon = store.clock.now() + timedelta(minutes=5)
    store.seed([{"fact": BATH, "expires_at": soon.isoformat()}], "u")
    assert texts(store.ask(WHERE, "u")) == [BATH]
    later = LaterClock(store.clock, timedelta(minutes=6))
    monkeypatch.setattr(store.recall, "_clock", later)
    assert texts(store.ask(WHERE, "u")) == []


def test_types_and_the_limit_come_after_the_filters(store, texts):
    many = [{"fact": f"The user lives in house number {n}.", "type": "event"} for n in range(40)]
    store.seed([*many, {"fact": BATH}], "u")
    assert texts(store.ask(WHERE, "u", types=frozenset({"fact"}), top_k=1)) == [BATH]
    assert len(store.ask(WHERE, "u", top_k=3).answers) <= 3


def test_restatements_collapse(store, texts):
    store.seed([{"fact": BATH}, {"fact": "the user lives in BATH"}, {"fact": BATH}], "u")
    assert len(texts(store.ask(WHERE, "u"))) == 1


def test_contested_ones_are_marked(store):
    (memory,) = store.seed([{"fact": BATH}], "u")

    def contest(tx):
        now = store.clock.now()
        after = memory_state.contested(memory, at=now, value=True)
        Journal(tx, memory.owner.subject_id, now).write(
            Step(MemoryAction.CONTESTED, after, memory, "two answers")
        )

    store.database.write(SCOPE, contest)
    assert store.ask(WHERE, "u").answers[0].hit.memory.contested

"""What recall keeps of a user's memories follows what happens to them, and takes a bounded room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain import memory_state
from service.domain.memory import MemoryAction
from service.domain.recall.eligible import Filters
from service.evaluation.recall_store import SCOPE
from service.usecases.journal import Journal, Step
from service.usecases.recall_corpus import Corpora

FACTS = ["The user lives in Bath.", "The user's dog is called Rex.", "用户喜欢茶", "Tea at four."]
WORDS = ["live", "dog", "茶", "tea"]
EVERYTHING = Filters(include_superseded=True)


@pytest.fixture
def corpora():
    return Corpora()


@pytest.fixture
def look(store):
    def look(corpora, user="u", filters=EVERYTHING):
        def work(tx):
            return corpora.view(tx, tx.subjects.find(user), filters, store.clock.now())

        return store.database.read(SCOPE, work)

    return look


def facts(*texts):
    return [{"fact": text} for text in texts]


def told(view):
    places = [view.places[m.id] for m in view.memories]
    return list(view.memories), places, view.lexical.scores(WORDS).tolist()


def retire(store, memory):
    def work(tx):
        now = store.clock.now()
        after = memory_state.retracted(memory, reason="wrong", at=now, until=None)
        step = Step(MemoryAction.RETRACTED, after, memory, "wrong")
        return Journal(tx, memory.owner.subject_id, now).write(step)

    return store.database.write(SCOPE, work)


def restore(store, memory):
    def work(tx):
        now = store.clock.now()
        step = Step(MemoryAction.RESTORED, memory_state.restored(memory, at=now), memory)
        return Journal(tx, memory.owner.subject_id, now).write(step)

    return store.database.write(SCOPE, work)


def test_what_is_kept_is_what_would_be_read(store, corpora, look):
    first, second = store.seed(facts(*FACTS[:2]), "u")

    def same():
        for filters in (EVERYTHING, Filters(), Filters(types=frozenset({"goal"}))):
            assert told(look(corpora, filters=filters)) == told(look(Corpora(), filters=filters))
        return len(look(corpora, filters=Filters()).memories)

    assert same() == 2
    gone = retire(store, first)
    assert same() == 1
    store.seed(facts(*FACTS[2:]), "u")
    assert same() == 3
    restore(store, gone)
    retire(store, second)
    assert same() == 3


def test_a_view_that_is_in_use_stays_as_it_was(store, corpora, look):
    (memory,) = store.seed(facts(FACTS[0]), "u")
    view = look(corpora)
    before = told(view)
    retire(store, memory)
    store.seed(facts(*FACTS[1:]), "u")
    assert len(look(corpora).memories) == len(FACTS)
    assert told(view) == before


def test_the_whole_memories_are_those_of_the_time_asked_about(store, corpora, look):
    (memory,) = store.seed(facts(FACTS[0]), "u")
    then = store.clock.now()
    gone = retire(store, memory)

    def whole(filters):
        view = look(corpora, filters=filters)

        def work(tx):
            return view.whole(tx, memory.owner.subject_id, [memory.id, "mem_unknown"])

        return store.database.read(SCOPE, work)

    assert whole(EVERYTHING) == {memory.id: gone}
    before = whole(Filters(as_of=then))
    assert before == {memory.id: replace(memory, state_hash=gone.state_hash)}


def test_who_asked_least_recently_is_dropped(store, look):
    corpora = Corpora(memories=20)
    _, second, third = (store.seed(facts(*FACTS), user)[0].owner.subject_id for user in "abc")
    for user in "abc":
        look(corpora, user)
    assert corpora.users == (second, third)
    store.seed(facts(*(f"The user has {n} apples." for n in range(30))), "d")
    assert len(look(corpora, "d").memories) == 30
    assert len(corpora.users) == 1


def test_nothing_is_kept_of_a_user_who_is_forgotten(store, corpora, look):
    (memory,) = store.seed(facts(FACTS[0]), "u")
    look(corpora)
    assert corpora.users == (memory.owner.subject_id,)
    corpora.forget(SCOPE.tenant, memory.owner.subject_id)
    assert corpora.users == ()
    assert len(look(corpora).memories) == 1

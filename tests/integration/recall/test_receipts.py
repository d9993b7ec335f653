"""Receipts bind everything; later memories change nothing, erased ones make them unverifiable."""

import copy

import pytest

from service.domain import memory_state
from service.domain.errors import InvalidInput, NotFound
from service.domain.memory import MemoryAction
from service.evaluation.recall_store import SCOPE
from service.ports.storage import EntryDraft, Scope
from service.usecases.journal import Journal, Step

QUERY = "Where does the user live?"
ROWS = [
    {"fact": "The user lives in Bath.", "agent_id": "a1"},
    {"fact": "The user has a garden in Bath."},
    {"fact": "The user plays the oboe."},
]


@pytest.fixture
def seeded(store):
    return store.seed(ROWS, "u")


@pytest.fixture
def receipt(store, seeded):
    return copy.deepcopy(dict(store.ask(QUERY, "u").receipt.body))


def test_it_verifies_and_is_stored(store, receipt):
    found = store.receipts.verify(SCOPE, receipt)
    assert (found.verified, found.differences) == (True, ())
    assert store.receipts.get(SCOPE, receipt["id"]) == receipt
    assert "Bath" not in str(receipt["hits"])


def test_later_memories_and_changes_do_not_touch_it(store, receipt, seeded):
    store.seed([{"fact": "The user lives in a flat in Bath, near the river."}], "u")
    store.seed([{"fact": f"The user lives near lake {n}."} for n in range(30)], "u")
    now = store.clock.now()

    def retire(tx):
        after = memory_state.superseded(seeded[0], by="mem_x", reason="moved", at=now, until=None)
        journal = Journal(tx, seeded[0].owner.subject_id, now)
        journal.write(Step(MemoryAction.SUPERSEDED, after, seeded[0], "moved", "mem_x"))

    store.database.write(SCOPE, retire)
    assert store.ask(QUERY, "u").answers[0].hit.memory.text != "The user lives in Bath."
    found = store.receipts.verify(SCOPE, receipt)
    assert found.verified is True, found


def paths(value, path=()):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from paths(inner, (*path, place))
        yield path
    else:
        yield path


def edited(receipt, path):
    changed = copy.deepcopy(receipt)
    *outer, last = path
    place = changed
    for step in outer:
        place = place[step]
    value = place[last]
    if isinstance(value, bool):
        place[last] = not value
    elif isinstance(value, int | float):
        place[last] = value + (1 if isinstance(value, int) else 1e-6)
    elif isinstance(value, list):
        place[last] = [*value, value[0] if value else "fact"]
    elif value is None or last == "at":
        place[last] = "2026-01-01T00:00:00+00:00"
    else:
        place[last] = f"{value}x"
    return changed


def test_every_edited_field_makes_it_false_and_is_named(store, receipt):
    every = list(paths(receipt))
    assert len(every) > 40
    for path in every:
        found = store.receipts.verify(SCOPE, edited(receipt, path))
        assert found.verified is False, path
        assert found.differences[0].field == "signature"


def test_what_was_edited_is_named(store, receipt):
    receipt["query"] = "Where does the user work?"
    fields = [d.field for d in store.receipts.verify(SCOPE, receipt).differences]
    assert fields == ["signature", "query"]


@pytest.mark.parametrize("name", ["query", "log", "hits", "signature", "policy", "key_id"])
def test_missing_and_added_fields(store, receipt, name):
    assert store.receipts.verify(SCOPE, receipt | {"more": 1}).verified is False
    del receipt[name]
    try:
        assert store.receipts.verify(SCOPE, receipt).verified is False
    except InvalidInput:
        assert name == "query"


def erase(store, memory):
    """What the erasure use case will do, as far as a receipt can see it."""

    def work(tx):
        draft = EntryDraft(
            "erasure.done", SCOPE.actor, subject=memory.owner.subject_id, memory=(memory.id,)
        )
        tx.audit.append(draft, {})

    store.database.write(SCOPE, work)


def test_erased_memories_make_it_unverifiable_never_false(store, receipt, seeded):
    erase(store, seeded[0])
    found = store.receipts.verify(SCOPE, receipt)
    assert (found.verified, found.status.value) == (None, "unverifiable")
    receipt["best_score"] = 0.1
    assert store.receipts.verify(SCOPE, receipt).verified is False


def test_an_erasure_can_forget_receipts(store, receipt, seeded):
    subject = seeded[0].owner.subject_id
    forget = lambda ids: store.database.write(SCOPE, lambda tx: tx.receipts.forget(subject, ids))  # noqa: E731
    assert forget(["mem_other"]) == 0
    assert forget([seeded[0].id]) == 1
    with pytest.raises(NotFound):
        store.receipts.get(SCOPE, receipt["id"])
    store.ask("zqx", "u")
    assert forget(None) == 1


def test_another_tenant_sees_and_verifies_nothing(store, receipt):
    other = Scope("other", "key")
    with pytest.raises(NotFound):
        store.receipts.get(other, receipt["id"])
    found = store.receipts.verify(other, receipt)
    assert [d.field for d in found.differences] == ["tenant"]


@pytest.mark.parametrize("given", [{}, {"receipt": "x"}, {"scope": None}, {"options": []}])
def test_what_is_no_receipt(store, given):
    with pytest.raises(InvalidInput):
        store.receipts.verify(SCOPE, given)


@pytest.mark.parametrize(
    ("user", "given", "reason"),
    [
        ("u", {"agent_id": "typo"}, "scope_unknown"),
        ("u", {"agent_id": "a1"}, "found"),
        ("u", {"query": "zqx flurbonium"}, "nothing_above_threshold"),
        ("u", {"include_superseded": True, "top_k": 1, "alpha": 0.5, "beta": 0.0}, "found"),
    ],
)
def test_every_outcome_verifies_after_more_was_stored(store, seeded, user, given, reason):
    query = given.pop("query", QUERY)
    recalled = store.ask(query, user, **given)
    assert recalled.outcome.reason.value == reason
    store.seed([{"fact": "The user lives here.", "agent_id": "typo"}], "u")
    found = store.receipts.verify(SCOPE, recalled.receipt.body)
    assert found.verified is True, found

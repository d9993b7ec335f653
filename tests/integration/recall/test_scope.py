"""Nobody sees, or is influenced by, what belongs to somebody else."""

import pytest

from service.domain.memory import Lesson
from service.evaluation.recall_store import SCOPE
from service.ports.storage import Scope

WHERE = "Where does the user live?"
BATH = {"fact": "The user lives in Bath."}
OTHER = Scope("other", "key")


def reason(recalled):
    return recalled.outcome.reason.value, recalled.outcome.best_score


def test_nobody_known(store):
    recalled = store.ask(WHERE, "nobody")
    assert reason(recalled) == ("scope_unknown", None)
    assert recalled.receipt is None


def test_a_user_without_memories(store):
    store.database.write(SCOPE, lambda tx: tx.subjects.id_for("u"))
    assert reason(store.ask(WHERE, "u")) == ("nothing_stored", None)


def test_agent_and_session_are_anded_and_a_typo_is_named(store, texts):
    store.seed(
        [BATH | {"agent_id": "a", "session_id": "s"}, {"fact": "The user lives in York."}], "u"
    )
    assert texts(store.ask(WHERE, "u", agent_id="a", session_id="s")) == [BATH["fact"]]
    assert reason(store.ask(WHERE, "u", agent_id="a", session_id="t"))[0] == "scope_unknown"
    assert reason(store.ask(WHERE, "u", agent_id="b", session_id="s"))[0] == "scope_unknown"


def test_known_scopes_that_share_nothing_store_nothing(store):
    store.seed([BATH | {"agent_id": "a"}, BATH | {"session_id": "s"}], "u")
    assert reason(store.ask(WHERE, "u", agent_id="a", session_id="s"))[0] == "nothing_stored"


def test_filters_that_hide_everything_are_not_called_empty(store):
    store.seed([BATH], "u")
    found = store.ask(WHERE, "u", types=frozenset({"goal"}))
    assert reason(found) == ("nothing_above_threshold", None)


@pytest.mark.parametrize("elsewhere", [("v", SCOPE), ("u", OTHER)], ids=["user", "tenant"])
def test_others_change_no_score(store, texts, elsewhere):
    rows = [BATH, {"fact": "The user has a garden."}]
    store.seed(rows, "u")
    before = store.ask(WHERE, "u")
    user, scope = elsewhere
    store.seed([{"fact": f"The user lives in place {n}."} for n in range(30)], user, scope)
    after = store.ask(WHERE, "u")
    assert texts(after) == [BATH["fact"]]
    assert [a.hit.scored for a in after.answers] == [a.hit.scored for a in before.answers]
    assert reason(store.ask(WHERE, "u", scope=Scope("third", "key")))[0] == "scope_unknown"


def test_other_agents_change_no_word_statistics(store):
    store.seed([BATH | {"agent_id": "a"}], "u")
    before = store.ask("bath", "u", agent_id="a").answers[0].hit.scored.components
    store.seed([{"fact": f"Bath number {n}.", "agent_id": "b"} for n in range(9)], "u")
    after = store.ask("bath", "u", agent_id="a").answers[0].hit.scored.components
    assert before == after


def test_what_was_just_written_is_found_before_it_has_a_stored_vector(store, texts, monkeypatch):
    monkeypatch.setattr("service.evaluation.recall_store.embed_missing", lambda *_: 0)
    store.seed([BATH], "u")
    assert texts(store.ask(WHERE, "u")) == [BATH["fact"]]


@pytest.mark.parametrize(
    ("fact", "query", "expected"),
    [
        ("药盒放在厨房第二个抽屉。", "药盒", "found"),
        ("药盒放在厨房第二个抽屉。", "药", "found"),
        ("Ключи лежат в ящике стола.", "ключи", "found"),
        ("カメラは棚の上にあります。", "カメラ", "found"),
        ("The user lives in Zürich.", "zurich", "found"),
        ("Der Nutzer wohnt in der Hauptstraße.", "HAUPTSTRASSE", "found"),
        ("药盒放在厨房第二个抽屉。", "会议", "nothing_above_threshold"),
        ("The user lives in Bath.", "会议", "unsupported_language"),
    ],
)
def test_languages(store, fact, query, expected):
    store.seed([{"fact": fact}], "u")
    assert reason(store.ask(query, "u"))[0] == expected


def lesson(store, name, subject, text):
    made = Lesson(
        name, subject, text, "user said 2026-01-01", (), store.clock.now(), "default:local"
    )
    store.database.write(SCOPE, lambda tx: tx.lessons.add(made))


def test_lessons_only_where_they_are_asked_for(store):
    store.seed([BATH], "u")
    other = store.seed([BATH], "v")[0].owner.subject_id
    lesson(store, "les_1", None, "Never deploy the payment service on a Friday.")
    lesson(store, "les_2", other, "Deploy on Fridays only with two people.")
    query = "When must we not deploy the payment service?"
    wanted = frozenset({"lesson"})
    found = store.ask(query, "u", types=wanted)
    assert [a.hit.lesson.id for a in found.answers] == ["les_1"]
    assert store.ask(query, "u").outcome.hits == ()
    assert [a.hit.lesson.id for a in store.ask(query, "nobody", types=wanted).answers] == ["les_1"]
    assert store.receipts.verify(SCOPE, found.receipt.body).verified is True
    both = store.ask(WHERE, "u", types=frozenset({"lesson", "fact"}))
    assert both.answers[0].hit.memory.text == BATH["fact"]

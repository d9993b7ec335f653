"""What a query asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.recall.answers import Wanted, lacks, wanted
from service.domain.recall.asking import is_readable, read_query, spoken
from service.domain.recall.statement import statement


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where do I live?", "Where does the user live?"),
        ("what am I building", "what is the user building"),
        ("my sister's name", "the user's sister's name"),
        ("Tell me about A.I. in Berlin", "Tell the user about A.I. in Berlin"),
        ("When is the deadline?", "When is the deadline?"),
    ],
)
def test_i_becomes_the_user(query, expected):
    assert spoken(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where does the user live?", "the user live somewhere"),
        ("When is the deadline?", "the deadline is at some time"),
        ("Which port does the gateway use?", "the gateway use some port"),
        ("who leads the team", "someone leads the team"),
        ("Does the user eat meat?", "the user does eat meat"),
        ("What's the user's name?", "the user's name is something"),
        ("How many cats does the user have", "the user have some number of cats"),
        ("garage remote", "garage remote"),
    ],
)
def test_questions_become_statements(query, expected):
    assert statement(query) == expected


@pytest.mark.parametrize(
    ("query", "is_topic"),
    [
        ("garage remote", True),
        ("deadline", True),
        ("my birthday", True),
        ("what is this", False),
        ("deadline?", False),
        ("where", False),
        ("the and of", False),
        ("a very long list of many different words", False),
    ],
)
def test_topics_are_told_from_questions(query, is_topic):
    assert read_query(query).keywords is is_topic


@pytest.mark.parametrize("query", ["？", "...", "🌍", "'s", "-", "的"])
def test_odd_queries_are_read(query):
    assert read_query(query).text == query


@pytest.mark.parametrize(
    ("text", "readable"),
    [("The user lives in Łódź.", True), ("药盒放在厨房", False), ("Он живёт", False), ("42", True)],
)
def test_scripts_the_model_can_read(text, readable):
    assert is_readable(text) is readable


@given(st.text(alphabet=st.characters(max_codepoint=0x4FFF)))
def test_a_text_is_readable_if_half_of_its_letters_are_latin(text):
    letters = [c for c in text if c.isalpha()]
    latin = [c for c in letters if c < "\u0250" or "\u1e00" <= c <= "\u1eff"]
    assert is_readable(text) is (2 * len(latin) >= len(letters))


@pytest.mark.parametrize(
    ("query", "kind", "holds", "does_not"),
    [
        ("Who is my boss?", Wanted.NAME, "The boss is Bea.", "The user has a boss."),
        ("my dog's name", Wanted.NAME, "The dog is called biscuit.", "The dog is big."),
        ("the accountant's name", Wanted.NAME, "It is Ana.", "The user sees it on Tuesday."),
        ("When do we ship?", Wanted.TIME, "We ship on Fridays.", "We ship by boat."),
        ("How many cats?", Wanted.NUMBER, "The user has two cats.", "The user has cats."),
        ("favourite food", Wanted.FAVOURITE, "Pie is the user's favourite.", "The user likes pie."),
    ],
)
def test_kinds_of_answer(query, kind, holds, does_not):
    assert wanted(query) is kind
    assert not lacks(kind, query, holds)
    assert lacks(kind, query, does_not)

"""Whether a text repeats another one, and whether a reason gives away what it erases."""

import pytest

from service.domain.erasure import Asked, ErasureMode, ErasurePlan, GroundState
from service.domain.erasure_text import Statements, normal, repeats

PEANUTS = ["The user is allergic to peanuts.", "I am allergic to peanuts."]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I am allergic to peanuts.", True),
        ("  i AM  allergic\nto Peanuts!", True),
        ("Ｉ am allergic to peanuts", True),
        ("Yes, I am allergic to peanuts, sorry.", True),
        ("(I am allergic to peanuts)", True),
        ("I am allergic to peanutsauce.", False),
        ("I am allergic to shellfish.", False),
        ("I am allergic to", False),
        ("", False),
        (None, False),
    ],
)
def test_statements_in_texts(text, found):
    assert Statements(PEANUTS).are_in(text) is found


@pytest.mark.parametrize(
    ("statement", "text"),
    [("Yes.", "Yes, I live in Lyon."), ("Arch Linux.", "Those Arch Linux wallpapers are nice.")],
)
def test_a_short_statement_is_only_a_whole_text(statement, text):
    short = Statements([statement])
    assert short.are_in(f" {statement.upper()}!")
    assert not short.are_in(text)


def test_scripts_without_spaces_have_no_word_edges():
    assert Statements(["我对花生过敏，非常严重"]).are_in("你好我对花生过敏，非常严重吗")
    assert not Statements(["In Straße zehn"]).are_in("darin Straße zehnmal")
    assert Statements(["IN STRASSE ZEHN"]).are_in("wohnt in Straße zehn.")


def test_statements_in_json():
    said = Statements(['He said "no peanuts"\nand left'])
    assert said.are_in_json({"a": [{"b": 'So: he said "no peanuts" and left.'}]})
    assert said.are_in_json({'he said "no peanuts" and left': 1})
    assert not said.are_in_json({"a": [1, None, True, "peanuts"]})


def test_no_statement_is_in_nothing():
    assert not Statements(["", " . "])
    assert not Statements([]).are_in("anything at all")
    assert normal("…") == "…" or normal("…") == ""


@pytest.mark.parametrize(
    ("reason", "given_away"),
    [
        ("user_request", False),
        ("Ticket 4711, by mail", False),
        ("GDPR request of 2026-01-05", False),
        ("The user asked us to delete the allergy.", False),
        ("remove the shellfish allergy", False),
        ("peanuts", True),
        ("the Peanut thing", True),
        ("she is allergic to something", True),
        ("I am allergic to peanuts.", True),
    ],
)
def test_reasons(reason, given_away):
    assert repeats(reason, PEANUTS, ["peanuts"]) is given_away


@pytest.mark.parametrize(
    ("reason", "texts", "values", "given_away"),
    [
        ("no longer vegetarian", ["The user is vegetarian."], ["vegetarian"], True),
        ("diet changed", ["The user is vegetarian."], ["vegetarian"], False),
        ("用户要求删除", ["用户对花生过敏"], ["花生"], False),
        ("删除花生", ["用户对花生过敏"], ["花生"], True),
        ("Moved away from Łódź", ["I live in Łódź."], ["Łódź"], True),
        ("moved away from LODZ", ["I live in Łódź."], ["Łódź"], True),
        ("PIN 4711", ["My PIN is 4711."], ["4711"], True),
        ("a request", ["I have a request."], ["request"], False),
    ],
)
def test_reasons_in_other_words(reason, texts, values, given_away):
    assert repeats(reason, texts, values) is given_away


def test_the_digest_of_a_plan_is_over_everything_in_it():
    plan = ErasurePlan(ErasureMode.MEMORIES, "sub_1", GroundState(3, 1), targets=("mem_1",))
    same = ErasurePlan(ErasureMode.MEMORIES, "sub_1", GroundState(3, 1), targets=("mem_1",))
    others = [
        ErasurePlan(ErasureMode.TURNS, "sub_1", GroundState(3, 1), targets=("mem_1",)),
        ErasurePlan(ErasureMode.MEMORIES, "sub_2", GroundState(3, 1), targets=("mem_1",)),
        ErasurePlan(ErasureMode.MEMORIES, "sub_1", GroundState(4, 1), targets=("mem_1",)),
        ErasurePlan(ErasureMode.MEMORIES, "sub_1", GroundState(3, 2), targets=("mem_1",)),
        ErasurePlan(ErasureMode.MEMORIES, "sub_1", GroundState(3, 1), duplicates=("mem_1",)),
    ]
    assert plan.digest == same.digest
    assert len({plan.digest, *(other.digest for other in others)}) == 1 + len(others)
    assert Asked(ErasureMode.ALL).ids == ()

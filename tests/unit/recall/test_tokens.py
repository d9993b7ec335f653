"""Words of a text, for any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.recall.stem import stem
from service.domain.recall.tokens import folded, query_tokens, tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zürich", "ZURICH"),
        ("Straße", "STRASSE"),
        ("Ｚｕｒｉｃｈ", "zurich"),
        ("cafe\u0301", "café"),
        ("Łódź", "lodz"),
        ("smørrebrød", "smorrebrod"),
    ],
)
def test_case_width_and_diacritics_fold(one, other):
    assert tokens(one) == tokens(other)


def test_a_word_within_a_word_is_not_found():
    assert "rich" not in tokens("Zürich")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("swimming", "swim"),
        ("swims", "swim"),
        ("swam", "swim"),
        ("hoping", "hope"),
        ("foods", "food"),
        ("studies", "studi"),
        ("study", "studi"),
        ("allergies", "allergi"),
        ("agreed", "agree"),
        ("bring", "bring"),
        ("bus", "bus"),
        ("classes", "class"),
        ("Zürich", "Zürich"),
    ],
)
def test_stems(word, expected):
    assert stem(word) == expected


def test_chinese_gives_characters_and_pairs_to_find_and_pairs_to_search():
    assert tokens("卓越的") == ["卓", "越", "的", "卓越", "越的"]
    assert query_tokens("药盒") == ["药盒"]
    assert query_tokens("药") == ["药"]


def test_everyday_chinese_is_found_in_english():
    assert {"medicin", "medicine"} & set(tokens("药盒放在厨房"))
    assert "kitchen" in tokens("药盒放在厨房")


def test_scripts_are_cut_where_they_meet():
    assert query_tokens("Node22用药盒") == ["node22", "用药", "药盒"]


def test_possessives_fall_away():
    assert tokens("the user's dogs'") == ["the", "user", "dog"]


@given(st.text())
def test_any_text_has_tokens_without_spaces(text):
    assert all(t and not t.isspace() for t in tokens(text))
    assert set(query_tokens(text)) <= set(tokens(text))


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert tokens(folded(text)) == tokens(text)

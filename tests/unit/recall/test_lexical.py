"""BM25 scaled to 0–1."""

import math

import pytest
from rank_bm25 import BM25Okapi

from service.domain.recall.lexical import Lexical
from service.domain.recall.words import counted

TEXTS = [
    ["tea", "green"],
    ["tea", "black", "tea"],
    ["coffee"],
    ["cake", "with", "tea", "and", "jam"],
]


def test_scores_are_those_of_rank_bm25_with_the_positive_idf():
    ours, theirs = Lexical(counted(TEXTS)), BM25Okapi(TEXTS)
    theirs.idf = {w: math.log(1 + (4 - n + 0.5) / (n + 0.5)) for w, n in count(TEXTS).items()}
    expected = theirs.get_scores(["tea", "jam"])
    whole = theirs.idf["tea"] + theirs.idf["jam"]
    found = ours.scores(["tea", "jam"])
    for place, score in enumerate(expected):
        assert found[place] == pytest.approx(min(1.0, score / whole))


def count(texts):
    return {w: sum(w in t for t in texts) for t in texts for w in t}


def test_one_means_that_every_word_is_there():
    assert Lexical(counted([["garage", "remote"]])).scores(["garage", "remote"]).tolist() == [1.0]


def test_a_word_that_nobody_has_weighs_more_than_a_common_one():
    lexical = Lexical(counted(TEXTS))
    assert lexical.scores(["tea", "supplier"])[1] < 0.5


def test_scores_are_never_negative_in_a_store_of_one():
    assert Lexical(counted([["only"]])).scores(["only"])[0] > 0


@pytest.mark.parametrize("texts", [[], [[]], [[], ["word"]]])
def test_empty_texts(texts):
    assert not Lexical(counted(texts)).scores(["word"])[:1].any()

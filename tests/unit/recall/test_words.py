"""Words kept as numbers, and the fast way to cut many texts."""

import string

from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from service.domain.recall.lexical import Lexical
from service.domain.recall.tokens import END, all_tokens, query_tokens, tokens
from service.domain.recall.words import counted, words_of

ASCII = st.text(alphabet=[chr(n) for n in range(128)])
PLAIN = st.text(alphabet=string.ascii_letters + "'s _-1.\t", max_size=40)
FOREIGN = " 药"
TEXTS = st.lists(st.one_of(PLAIN, ASCII, st.text()), max_size=6)


def same(one, other) -> bool:
    return one.codes.tolist() == other.codes.tolist() and (
        one.lengths.tolist() == other.lengths.tolist()
    )


@given(st.one_of(PLAIN, ASCII))
def test_plain_text_is_cut_as_it_is_among_other_scripts(text):
    assert tokens(text) == tokens(text + FOREIGN)[: -len(tokens(FOREIGN))]
    assert query_tokens(text) == query_tokens(text + FOREIGN)[:-1]


@given(TEXTS)
def test_many_texts_are_cut_as_each_alone(texts):
    assert all_tokens(texts) == [token for text in texts for token in (*tokens(text), END)]


@given(TEXTS, TEXTS)
def test_texts_can_be_added(some, more):
    assert same(words_of(some) + words_of(more), counted(map(tokens, some + more)))


@given(st.lists(st.tuples(PLAIN, st.booleans())))
def test_texts_can_be_left_out(texts):
    chosen = words_of([text for text, _ in texts]).only([kept for _, kept in texts])
    assert same(chosen, words_of([text for text, kept in texts if kept]))


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), min_size=1).filter(any),
    st.lists(st.sampled_from("abcxyz"), max_size=5),
)
def test_scores_are_those_of_rank_bm25_for_any_texts(texts, query):
    lexical, theirs = Lexical(counted(texts)), BM25Okapi(texts)
    theirs.idf = {
        word: lexical.rarity(sum(word in text for text in texts)) for text in texts for word in text
    }
    whole = 0.0
    for word in query:
        whole += theirs.idf.get(word, lexical.rarity(0))
    expected = theirs.get_scores(query)
    found = lexical.scores(query)
    for ours, score in zip(found.tolist(), expected.tolist(), strict=True):
        assert abs(ours - (min(1.0, score / whole) if whole else score)) < 1e-12

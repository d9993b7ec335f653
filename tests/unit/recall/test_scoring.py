"""The formula, its components and what is checked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.recall import calibration
from service.domain.recall.asking import read_query
from service.domain.recall.scoring import (
    Candidate,
    Weights,
    definition_hash,
    ranked,
    score,
    to_check,
    with_entailment,
)

WEIGHTS = Weights(alpha=0.85, beta=0.1, threshold=0.52)
QUESTION = read_query("Where does the user live?")
UNIT = st.floats(0, 1)


def candidate(name="mem_1", text="The user lives in Bath.", **given):
    values = {"importance": 0.5, "cosine": 0.6, "lexical": 0.4} | given
    return Candidate(name, text, **values)


@given(UNIT, UNIT, st.floats(-1, 1), st.none() | UNIT)
def test_the_formula(lexical, importance, cosine, entailment):
    one = candidate(lexical=lexical, importance=importance, cosine=cosine, entailment=entailment)
    found = score(QUESTION, one, WEIGHTS)
    parts = found.components
    mixed = max(parts.semantic, 0.85 * parts.semantic + 0.15 * parts.lexical)
    assert found.score == pytest.approx(min(1, max(0, mixed + 0.1 * (importance - 0.5))), abs=1e-5)
    assert 0 <= found.score <= 1


def test_words_decide_alone_for_a_topic_and_where_the_model_cannot_read():
    assert score(read_query("garage remote"), candidate(lexical=0.9), WEIGHTS).score == 0.9
    chinese = score(read_query("药盒"), candidate(text="药盒放在厨房", lexical=0.9), WEIGHTS)
    assert chinese.score == 0.9
    assert chinese.components.cosine is None


def test_entailment_raises_and_its_absence_lowers():
    low, high = (with_entailment(candidate(), e) for e in (0.001, 0.99))
    scores = [score(QUESTION, c, WEIGHTS).score for c in (low, high)]
    assert scores[0] < 0.52 < scores[1]


@given(st.lists(st.tuples(st.floats(-1, 1), UNIT), max_size=8))
def test_a_ranking_never_increases(pairs):
    many = [candidate(f"mem_{n}", cosine=c, lexical=x) for n, (c, x) in enumerate(pairs)]
    scores = [s.score for s in ranked(QUESTION, many, WEIGHTS)]
    assert scores == sorted(scores, reverse=True)


def test_what_is_certain_is_not_checked_and_the_number_is_bounded():
    near = candidate(cosine=0.9)
    rest = [candidate(f"mem_{n}", cosine=0.5) for n in range(30)]
    found = ranked(QUESTION, [near, *rest], WEIGHTS)
    assert len(to_check(QUESTION, found, 5)) == 5
    assert len(to_check(QUESTION, found, 100)) == 15


def test_calibration_grows_with_its_evidence():
    for lacks in (False, True):
        assert calibration.checked(0.6, 0.5, lacks=lacks) > calibration.checked(
            0.5, 0.5, lacks=lacks
        )
        assert calibration.checked(0.6, 0.6, lacks=lacks) > calibration.checked(
            0.6, 0.5, lacks=lacks
        )
        assert calibration.unchecked(0.6, lacks=lacks) > calibration.unchecked(0.5, lacks=lacks)
    assert calibration.checked(0.6, 0.5, lacks=True) < calibration.checked(0.6, 0.5, lacks=False)


def test_the_definition_has_a_hash_that_does_not_move():
    assert definition_hash() == definition_hash()
    assert len(definition_hash()) == 64

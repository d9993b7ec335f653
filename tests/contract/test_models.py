"""What the gate relies on, checked on the packaged models."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from service.adapters.onnx.loading import LoadedModels, ModelSettings, load_models
from service.domain.errors import Overloaded, Unavailable
from service.ports.models import Embedder, EntailmentModel

PAIRS = [
    ("I moved to Lisbon in May.", "The user lives in Lisbon."),
    ("I'm allergic to peanuts.", "The user loves peanuts."),
    ("I work as a nurse.", "The user owns a boat."),
    ("ok", "The user is tall."),
    ("We talked about the budget. " * 12 + "My name is Priya.", "The user's name is Priya."),
    ("I don't eat meat any more, since a documentary last year.", "The user eats meat."),
    ("Ich wohne in Köln 🙂.", "The user lives in Cologne."),
    ("x " * 100, "The user is tired."),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def models(folder: Path) -> Iterator[LoadedModels]:
    """Models with hardly any cache, so that repeated calls are computed."""
    loaded = load_models(ModelSettings(folder, workers=2, cache_size=1))
    yield loaded
    loaded.close()


@pytest.fixture
def nli(models: LoadedModels) -> EntailmentModel:
    return models.nli


@pytest.fixture
def embedder(models: LoadedModels) -> Embedder:
    return models.embedder


def test_clear_pairs_are_classified(nli: EntailmentModel) -> None:
    lisbon, peanuts, boat, *_ = nli.classify(PAIRS)
    assert lisbon.entailment > 0.7
    assert peanuts.contradiction > 0.7
    assert boat.neutral > 0.5


def test_scores_are_rounded_and_sum_to_one(nli: EntailmentModel) -> None:
    for scores in nli.classify(PAIRS):
        values = (scores.entailment, scores.neutral, scores.contradiction)
        assert sum(values) == pytest.approx(1, abs=1e-6)
        assert all(0 <= value <= 1 and value == round(value, 6) for value in values)


def test_a_pair_never_depends_on_its_batch(nli: EntailmentModel) -> None:
    alone = {pair: nli.classify([pair])[0] for pair in PAIRS}
    order = random.Random(1)  # noqa: S311 - a reproducible order
    for _ in range(5):
        batch = order.sample(PAIRS, k=order.randint(2, len(PAIRS)))
        assert nli.classify(batch) == [alone[pair] for pair in batch]


def test_a_text_never_depends_on_its_batch(embedder: Embedder) -> None:
    texts = [premise for premise, _ in PAIRS]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.array_equal(alone, embedder.embed(texts))
    assert np.array_equal(alone[::-1], embedder.embed(texts[::-1]))


def test_thread_count_and_restart_change_nothing(nli: EntailmentModel, folder: Path) -> None:
    expected = nli.classify(PAIRS)
    other = load_models(ModelSettings(folder, threads=2, workers=1))
    try:
        assert other.nli.classify(PAIRS) == expected
        assert other.nli.identity == nli.identity
    finally:
        other.close()


def test_concurrent_callers_get_their_own_results(models: LoadedModels) -> None:
    expected = {pair: models.nli.classify([pair])[0] for pair in PAIRS}
    vectors = {premise: models.embedder.embed([premise])[0] for premise, _ in PAIRS}
    start = threading.Barrier(16)

    def call(number: int) -> bool:
        start.wait(10)
        own = PAIRS[number % 8 :] + PAIRS[: number % 3]
        right = models.nli.classify(own) == [expected[pair] for pair in own]
        texts = [premise for premise, _ in own]
        return right and np.array_equal(
            models.embedder.embed(texts), np.stack([vectors[text] for text in texts])
        )

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(call, range(16)))


def test_fact_at_the_end_of_a_long_premise_is_found(nli: EntailmentModel) -> None:
    filler = "The meeting went through the agenda item by item and nobody objected. "
    fact = "By the way, I moved to Lisbon in May."
    hypothesis = "The user moved to Lisbon."
    (short,) = nli.classify([(fact, hypothesis)])
    (without,) = nli.classify([(filler * 60, hypothesis)])
    (with_it,) = nli.classify([(filler * 60 + fact, hypothesis)])
    assert short.entailment > 0.9
    assert without.entailment < 0.3
    assert with_it.entailment > without.entailment + 0.3


def test_empty_and_repeated_input(nli: EntailmentModel, embedder: Embedder) -> None:
    assert nli.classify([]) == []
    first, second = nli.classify([PAIRS[0], PAIRS[0]])
    assert first == second
    assert embedder.embed([]).shape == (0, embedder.dimensions)
    assert embedder.embed(["", "a", "a"]).shape == (3, embedder.dimensions)


def test_vectors_are_unit_rows_that_follow_meaning(embedder: Embedder) -> None:
    texts = ["I have a dog.", "The user owns a puppy.", "Interest rates rose.", "long text " * 900]
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, embedder.dimensions) == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.3


def test_cached_results_equal_computed_ones(models: LoadedModels, folder: Path) -> None:
    cached = load_models(ModelSettings(folder))
    try:
        computed = models.nli.classify(PAIRS)
        assert cached.nli.classify(PAIRS) == computed == cached.nli.classify(PAIRS)
        vectors = cached.embedder.embed(["a"])
        vectors += 1  # a caller's own copy
        assert not np.array_equal(vectors, cached.embedder.embed(["a"]))
    finally:
        cached.close()


def test_full_queue_is_overloaded(folder: Path) -> None:
    small = load_models(ModelSettings(folder, workers=1, queue_size=1, cache_size=1))
    pairs = [(f"{premise} {n}", fact) for n in range(4) for premise, fact in PAIRS]
    with ThreadPoolExecutor(16) as pool:
        calls = [pool.submit(small.nli.classify, pairs) for _ in range(16)]
        errors = [call.exception() for call in calls]
    small.close()
    assert {type(error) for error in errors} == {type(None), Overloaded}


def test_closed_models_are_unavailable(folder: Path) -> None:
    closed = load_models(ModelSettings(folder))
    closed.close()
    with pytest.raises(Unavailable, match="nli model"):
        closed.nli.classify(PAIRS)
    with pytest.raises(Unavailable, match="embedder model"):
        closed.embedder.embed(["new"])
    closed.close()


def test_missing_model_is_unavailable(folder: Path) -> None:
    settings = ModelSettings(folder)
    for missing in ("nli_folder", "embedder_folder"):
        with pytest.raises(Unavailable, match=r"nowhere.*manifest\.json"):
            load_models(replace(settings, **{missing: folder / "nowhere"}))

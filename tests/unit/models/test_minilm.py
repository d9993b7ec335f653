"""The new layout of the embedding model gives nearly the source graph's vectors, and stays put."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.adapters.onnx.derived import MINILM, derived_graph
from service.adapters.onnx.embedder import mean_of_tokens, unit
from service.adapters.onnx.loading import entry_for
from service.adapters.onnx.manifest import file_sha256, verified_files
from service.adapters.onnx.session import TokenSession
from service.adapters.onnx.windows import WindowTokenizer

TEXTS = [
    "I moved to Lisbon in May, and I work as a nurse there.",
    "The user lives in Lisbon.",
    "lawyer",
    "我对花生过敏。",
    "Zoë drank 3½ crèmes brûlées — wow!",
    "Yesterday " * 60,
]


@pytest.fixture(scope="module")
def entry():
    return entry_for("embedder", None)


@pytest.fixture(scope="module")
def encodings(entry):
    tokenizer = WindowTokenizer(verified_files(entry)["tokenizer"], entry.window)
    return [tokenizer.single(text)[0] for text in TEXTS]


@pytest.fixture(scope="module")
def derived(entry, models_dir: Path):
    source = verified_files(entry)["graph"]
    return TokenSession(derived_graph(MINILM, source, file_sha256(source), models_dir), 1)


def vectors(session, encodings) -> np.ndarray:
    hidden = mean_of_tokens(session.run(encodings), encodings)
    return np.stack([unit(row.astype(np.float64)) for row in hidden])


def test_vectors_are_those_of_the_source_graph_but_for_rounding(entry, encodings, derived):
    source = TokenSession(verified_files(entry)["graph"], 1)
    first, second = vectors(source, encodings), vectors(derived, encodings)
    assert np.sum(first * second, axis=1).min() > 0.99
    assert np.abs(first @ first.T - second @ second.T).max() < 0.04


def test_a_vector_depends_on_nothing_else_in_its_batch(encodings, derived):
    alone = np.concatenate([vectors(derived, [e]) for e in encodings])
    assert np.array_equal(alone, vectors(derived, encodings))
    assert np.array_equal(alone, vectors(derived, encodings[::-1])[::-1])

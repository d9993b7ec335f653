"""Long input is covered by windows, never cut."""

import numpy as np
import pytest

from service.adapters.onnx.head import combine
from service.adapters.onnx.loading import entry_for
from service.adapters.onnx.manifest import verified_files
from service.adapters.onnx.windows import WindowTokenizer
from service.domain.errors import TooLarge


@pytest.fixture(scope="module")
def tokenizer() -> WindowTokenizer:
    return WindowTokenizer(verified_files(entry_for("nli", None))["tokenizer"], 64 * 3)


def test_windows_cover_every_token_of_the_premise(tokenizer: WindowTokenizer) -> None:
    premise = " ".join(f"item{n}" for n in range(400))
    windows = tokenizer.pair(premise, "The user likes tea.")
    assert len(windows) > 5
    covered = {position for w in windows for position, s in _spans(w) if s == 0}
    assert covered >= {i for i, letter in enumerate(premise) if letter != " "}
    assert all(len(w.ids) <= 192 for w in windows)
    assert len({tuple(i for i, s in zip(w.ids, w.sequence_ids, strict=True) if s == 1)
                for w in windows}) == 1  # fmt: skip


def _spans(window):
    for (start, end), sequence in zip(window.offsets, window.sequence_ids, strict=True):
        for position in range(start, end):
            yield position, sequence


def test_short_pair_is_one_window_without_padding(tokenizer: WindowTokenizer) -> None:
    windows = tokenizer.pair("I like tea.", "The user likes tea.")
    assert len(windows) == 1
    assert 0 not in windows[0].ids


def test_hypothesis_of_more_than_half_a_window_is_refused(tokenizer: WindowTokenizer) -> None:
    with pytest.raises(TooLarge, match="hypothesis"):
        tokenizer.pair("I like tea.", "tea " * 97)
    assert tokenizer.pair("I like tea.", "tea " * 90)


def test_empty_texts_have_a_window(tokenizer: WindowTokenizer) -> None:
    assert len(tokenizer.pair("", "")) == 1
    assert len(tokenizer.single("")) == 1


def test_one_window_is_enough_to_entail_or_contradict() -> None:
    plain = combine([np.array([0.7, 0.2, 0.1])])
    assert (plain.entailment, plain.neutral, plain.contradiction) == (0.7, 0.2, 0.1)
    far = combine([np.array([0.02, 0.95, 0.03]), np.array([0.9, 0.08, 0.02])])
    assert (far.entailment, far.contradiction) == (0.9, 0.03)
    both = combine([np.array([0.9, 0.1, 0.0]), np.array([0.0, 0.1, 0.9])])
    assert (both.entailment, both.neutral, both.contradiction) == (0.5, 0.0, 0.5)

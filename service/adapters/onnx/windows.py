"""Turns texts into token windows: nothing is ever cut, long input becomes several windows."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Encoding, Tokenizer

from service.domain.errors import TooLarge

OVERLAP_SHARE = 4  # neighbouring windows share a quarter of their tokens


class WindowTokenizer:
    """A tokenizer with a fixed window."""

    def __init__(self, path: Path, window: int) -> None:
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        self._window = window
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(
            window, stride=window // OVERLAP_SHARE, strategy="only_first"
        )

    @property
    def most_hypothesis_tokens(self) -> int:
        """Return how many tokens a hypothesis may have: half a window."""
        return self._window // 2

    def pair(self, premise: str, hypothesis: str) -> list[Encoding]:
        """Return the windows of a premise, each followed by the whole hypothesis.

        Raises:
            TooLarge: the hypothesis takes more than half a window.

        """
        own: Encoding = self._tokenizer.encode(hypothesis, add_special_tokens=False)
        if own.overflowing or len(own.ids) > self.most_hypothesis_tokens:
            raise TooLarge("hypothesis", f"takes more than {self.most_hypothesis_tokens} tokens")
        first: Encoding = self._tokenizer.encode(premise, hypothesis)
        return [first, *first.overflowing]

    def single(self, text: str) -> list[Encoding]:
        """Return the windows of one text."""
        first: Encoding = self._tokenizer.encode(text)
        return [first, *first.overflowing]

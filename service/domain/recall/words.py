"""The words of many texts as two arrays, to keep and to scan thousands of them.

A word is Python's 64-bit hash of it: with a random key per process, so that nobody can make two
words meet, and by chance they do once in some 10¹⁴ queries over 10,000 words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.domain.recall.tokens import END, all_tokens


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of every text one after another, and how many each text has."""

    codes: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def __add__(self, more: Words) -> Words:
        """Return these texts and more after them."""
        return Words(
            np.concatenate((self.codes, more.codes)), np.concatenate((self.lengths, more.lengths))
        )

    def only(self, chosen: Sequence[bool]) -> Words:
        """Return the texts that are chosen; ``chosen`` has one truth per text."""
        kept = np.array(chosen, dtype=bool)
        return Words(self.codes[np.repeat(kept, self.lengths)], self.lengths[kept])


def words_of(texts: Sequence[str]) -> Words:
    """Return the words of texts."""
    return _words(all_tokens(texts))


def counted(texts: Iterable[Sequence[str]]) -> Words:
    """Return the words of texts that are cut into tokens already."""
    return _words([token for text in texts for token in (*text, END)])


def _words(every: list[str]) -> Words:
    codes = np.fromiter(map(hash, every), dtype=np.int64, count=len(every))
    is_end = codes == hash(END)
    ends = np.flatnonzero(is_end)
    return Words(codes[~is_end], np.diff(ends, prepend=-1) - 1)

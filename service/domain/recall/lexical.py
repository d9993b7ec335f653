"""BM25 over one user's eligible memories, scaled to 0–1.

The formula is that of ``rank_bm25.BM25Okapi`` (k1 = 1.5, b = 0.75) with one change. Its inverse
document frequency turns negative for a word in more than half of the texts, which in a memory of
three facts is every word; here it is Lucene's ``ln(1 + (N − n + 0.5) / (n + 0.5))``, always
positive. There are no postings: a query looks through the numbers of all words, which for 10,000
short texts takes a few hundredths of a millisecond, and nothing has to be built before.

A score is divided by what the query itself would reach as a document of average length, the sum of
its words' idf, words that no memory has included; what is above 1 counts as 1. So 1.0 means that
the memory holds every word of the query, and a rare word that is missing weighs what it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.domain.recall.words import Words

Scores: TypeAlias = NDArray[np.float64]
K1: Final = 1.5
B: Final = 0.75


class Lexical:
    """Scores texts for the words of a query."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._size = len(words.lengths)
        self._ends = np.cumsum(words.lengths)
        self._average = len(words.codes) / self._size if self._size else 0.0

    def scores(self, words: Sequence[str]) -> Scores:
        """Return the scaled score of every text, in the order of the corpus."""
        found = np.zeros(self._size)
        whole = 0.0
        for word in words:
            whole += self._add(found, word)
        return np.minimum(1.0, found / whole) if whole else found

    def rarity(self, texts: int) -> float:
        """Return the inverse document frequency of a word that so many texts hold."""
        return math.log(1 + (self._size - texts + 0.5) / (texts + 0.5))

    def _add(self, found: Scores, word: str) -> float:
        """Add what a word is worth to the texts that hold it; return how rare it is."""
        at = np.flatnonzero(self._words.codes == hash(word))
        places, times = np.unique(np.searchsorted(self._ends, at, "right"), return_counts=True)
        rarity = self.rarity(len(places))
        if len(places):
            lengths = self._words.lengths[places] / self._average
            damped = times + K1 * (1 - B + B * lengths)
            found[places] += rarity * times * (K1 + 1) / damped
        return rarity

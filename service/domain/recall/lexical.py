"""BM25 over one user's eligible memories, scaled to 0–1.

The base is ``rank_bm25.BM25Okapi`` (k1 = 1.5, b = 0.75) with two changes. Its inverse document
frequency turns negative for a word in more than half of the texts, which in a memory of three
facts is every word; here it is Lucene's ``ln(1 + (N − n + 0.5) / (n + 0.5))``, always positive. And
scores are read from postings instead of every document in turn; the numbers are the same.

A score is divided by what the query itself would reach as a document of average length, the sum of
its words' idf, words that no memory has included; what is above 1 counts as 1. So 1.0 means that
the memory holds every word of the query, and a rare word that is missing weighs what it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

Places: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]


class Lexical(BM25Okapi):  # type: ignore[misc]  # the package has no types
    """Scores texts for the words of a query."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._size = len(texts)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._weighted: dict[str, tuple[Places, Scores]] = {}
        if any(texts):
            super().__init__(texts)
            for place, frequencies in enumerate(self.doc_freqs):
                for word, times in frequencies.items():
                    self._postings.setdefault(word, []).append((place, times))

    def scores(self, words: Sequence[str]) -> Scores:
        """Return the scaled score of every text, in the order of the corpus."""
        found = np.zeros(self._size)
        whole = 0.0
        for word in words:
            if word in self._postings:
                places, weights = self._weights(word)
                found[places] += weights
                whole += self.idf[word]
            else:
                whole += self._rarity(0)
        return np.minimum(1.0, found / whole) if whole else found

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {word: self._rarity(texts) for word, texts in nd.items()}

    def _rarity(self, texts: int) -> float:
        return math.log(1 + (self._size - texts + 0.5) / (texts + 0.5))

    def _weights(self, word: str) -> tuple[Places, Scores]:
        """Return the texts that hold a word, and what it is worth in each."""
        if word not in self._weighted:
            places, times = np.array(self._postings[word]).T
            lengths = np.array([self.doc_len[place] for place in places]) / self.avgdl
            damped = times + self.k1 * (1 - self.b + self.b * lengths)
            self._weighted[word] = (places, self.idf[word] * times * (self.k1 + 1) / damped)
        return self._weighted[word]

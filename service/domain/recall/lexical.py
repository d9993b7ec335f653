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
from typing import Any

from rank_bm25 import BM25Okapi


class Lexical(BM25Okapi):  # type: ignore[misc]  # the package has no types
    """Scores texts for the words of a query."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._size = len(texts)
        if any(texts):
            super().__init__(texts)
            self._index()

    def scores(self, words: Sequence[str]) -> Mapping[int, float]:
        """Return the scaled score of every text that holds a word, by its place in the corpus."""
        whole = sum(self._idf(word) for word in words)
        found: dict[int, float] = {}
        for word in words:
            for place, times in self._postings.get(word, ()):
                found[place] = found.get(place, 0.0) + self._part(word, place, times)
        return {place: min(1.0, value / whole) for place, value in found.items()}

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {word: self._rarity(texts) for word, texts in nd.items()}

    def _rarity(self, texts: int) -> float:
        return math.log(1 + (self._size - texts + 0.5) / (texts + 0.5))

    def _idf(self, word: str) -> float:
        known: float | None = self.idf.get(word) if self._postings else None
        return self._rarity(0) if known is None else known

    def _part(self, word: str, place: int, times: int) -> float:
        length: Any = self.doc_len[place] / self.avgdl
        damped = times + self.k1 * (1 - self.b + self.b * length)
        return float(self.idf[word] * times * (self.k1 + 1) / damped)

    def _index(self) -> None:
        for place, frequencies in enumerate(self.doc_freqs):
            for word, times in frequencies.items():
                self._postings.setdefault(word, []).append((place, times))

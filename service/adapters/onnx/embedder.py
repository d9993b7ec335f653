"""The sentence-embedding model."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from tokenizers import Encoding

from service.adapters.onnx.batcher import MicroBatcher
from service.adapters.onnx.windows import WindowTokenizer
from service.ports.models import ModelIdentity

DECIMALS = 6
Vector = NDArray[np.float32]


def mean_of_tokens(hidden: NDArray[np.float32], encodings: Sequence[Encoding]) -> list[Vector]:
    """Return the mean over each input's own tokens; padding never enters the sum."""
    return [hidden[row, : len(e.ids)].mean(axis=0) for row, e in enumerate(encodings)]


def unit(vector: NDArray[np.float64]) -> Vector:
    """Return the vector at length 1, rounded to ``DECIMALS``."""
    length = max(float(np.sqrt((vector * vector).sum())), 1e-12)
    return np.round(vector / length, DECIMALS).astype(np.float32)


class OnnxEmbedder:
    """Implements ``service.ports.models.Embedder``.

    A text longer than the window is embedded in overlapping windows whose vectors are averaged,
    weighted by their tokens.
    """

    def __init__(
        self,
        identity: ModelIdentity,
        tokenizer: WindowTokenizer,
        batcher: MicroBatcher[Encoding, Vector],
        cache_size: int,
    ) -> None:
        self._identity = identity
        self._tokenizer = tokenizer
        self._batcher = batcher
        self._cache: LRUCache[str, Vector] = LRUCache(cache_size)
        self._lock = threading.Lock()
        self._epoch = 0
        self._dimensions = len(self._vectors(["warm-up"])["warm-up"])

    @property
    def identity(self) -> ModelIdentity:
        """Return which model answers."""
        return self._identity

    @property
    def dimensions(self) -> int:
        """Return the length of one vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array ``[len(texts), dimensions]`` of unit rows, in order.

        Raises:
            Overloaded: the queue before the model is full.
            Unavailable: the model is closed.

        """
        with self._lock:
            epoch = self._epoch
            known = {text: self._cache[text] for text in set(texts) if text in self._cache}
        fresh = self._vectors([text for text in dict.fromkeys(texts) if text not in known])
        with self._lock:
            if epoch == self._epoch:
                self._cache.update(fresh)
        known.update(fresh)
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._dimensions), dtype=np.float32)

    def _vectors(self, texts: list[str]) -> dict[str, Vector]:
        windows = [self._tokenizer.single(text) for text in texts]
        outputs = iter(self._batcher.run_all([window for part in windows for window in part]))
        vectors = {}
        for text, part in zip(texts, windows, strict=True):
            total = np.zeros(1)
            for window in part:
                total = total + next(outputs).astype(np.float64) * len(window.ids)
            vectors[text] = unit(total)
        return vectors

    def clear(self) -> None:
        """Forget every text and result; what is being worked on is not remembered either."""
        with self._lock:
            self._cache.clear()
            self._epoch += 1

    def close(self) -> None:
        """Finish what is queued and refuse anything new."""
        self._batcher.close()

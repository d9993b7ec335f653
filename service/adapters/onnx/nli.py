"""The entailment model: tokenise in the caller, batch, classify, combine windows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from tokenizers import Encoding

from service.adapters.onnx.batcher import MicroBatcher
from service.adapters.onnx.head import combine, softmax
from service.adapters.onnx.windows import WindowTokenizer
from service.domain.entailment import EntailmentScores
from service.ports.models import ModelIdentity

Logits = Callable[[NDArray[np.float32]], NDArray[np.float64]]
Pair = tuple[str, str]


class OnnxEntailment:
    """Implements ``service.ports.models.EntailmentModel``."""

    def __init__(
        self,
        identity: ModelIdentity,
        tokenizer: WindowTokenizer,
        batcher: MicroBatcher[Encoding, NDArray[np.float32]],
        logits: Logits,
        cache_size: int,
    ) -> None:
        self._identity = identity
        self._tokenizer = tokenizer
        self._batcher = batcher
        self._logits = logits
        self._cache: LRUCache[Pair, EntailmentScores] = LRUCache(cache_size)
        self._lock = threading.Lock()
        self._epoch = 0

    @property
    def identity(self) -> ModelIdentity:
        """Return which model answers."""
        return self._identity

    def classify(self, pairs: Sequence[Pair]) -> list[EntailmentScores]:
        """Return one score per (premise, hypothesis), in order, rounded to six decimals.

        Raises:
            Overloaded: the queue before the model is full.
            TooLarge: a hypothesis takes more than half of the model's window.
            Unavailable: the model is closed.

        """
        with self._lock:
            epoch = self._epoch
            known = {pair: self._cache[pair] for pair in set(pairs) if pair in self._cache}
        fresh = self._score([pair for pair in dict.fromkeys(pairs) if pair not in known])
        with self._lock:
            if epoch == self._epoch:
                self._cache.update(fresh)
        known.update(fresh)
        return [known[pair] for pair in pairs]

    def _score(self, pairs: list[Pair]) -> dict[Pair, EntailmentScores]:
        windows = [self._tokenizer.pair(*pair) for pair in pairs]
        outputs = iter(self._batcher.run_all([window for part in windows for window in part]))
        return {
            pair: combine([softmax(self._logits(next(outputs))) for _ in part])
            for pair, part in zip(pairs, windows, strict=True)
        }

    def clear(self) -> None:
        """Forget every text and result; what is being worked on is not remembered either."""
        with self._lock:
            self._cache.clear()
            self._epoch += 1

    def close(self) -> None:
        """Finish what is queued and refuse anything new."""
        self._batcher.close()

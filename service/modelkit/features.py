"""The encoder's feature vectors for many rows, cached on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from service.adapters.onnx.batcher import BatchLimits, MicroBatcher
from service.adapters.onnx.derived import deberta_recipe, derived_graph
from service.adapters.onnx.loading import FEATURE_LAYERS, entry_for
from service.adapters.onnx.manifest import verified_files
from service.adapters.onnx.session import TokenSession
from service.adapters.onnx.windows import WindowTokenizer
from service.modelkit.dataset import Row

CHUNK = 512  # rows queued at once


class FeatureSource:
    """Runs the packaged encoder exactly as the service does."""

    def __init__(self, models_dir: Path) -> None:
        entry = entry_for("nli", None)
        fixed = tuple(f for f in entry.files if f.part != "head")  # the head is being made
        files = verified_files(entry, parts=[f.part for f in fixed])
        recipe = deberta_recipe(FEATURE_LAYERS)
        graph = derived_graph(recipe, files["graph"], fixed[0].sha256, models_dir)
        self._session = TokenSession(graph, threads=1)
        self._tokenizer = WindowTokenizer(files["tokenizer"], entry.window)
        self._folder = models_dir / "features"
        self._key = graph.stem + "".join(f.sha256 for f in fixed)

    def features(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        """Return ``[len(rows), features]``; of a premise over several windows, the first."""
        content = "\0".join([self._key, *(f"{r.premise}\0{r.hypothesis}" for r in rows)])
        cached = self._folder / f"{hashlib.sha256(content.encode()).hexdigest()[:24]}.npy"
        if not cached.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            np.save(cached, self._compute(rows))
        return np.asarray(np.load(cached), dtype=np.float32)

    def _compute(self, rows: Sequence[Row]) -> NDArray[np.float32]:
        batcher: MicroBatcher[Encoding, NDArray[np.float32]] = MicroBatcher(
            "features", lambda batch: list(self._session.run(batch)), BatchLimits(workers=2)
        )
        encodings = [self._tokenizer.pair(r.premise, r.hypothesis)[0] for r in rows]
        order = sorted(range(len(rows)), key=lambda index: len(encodings[index].ids))
        outputs: list[NDArray[np.float32]] = []
        try:
            for start in range(0, len(order), CHUNK):
                outputs += batcher.run_all([encodings[i] for i in order[start : start + CHUNK]])
        finally:
            batcher.close()
        features = np.zeros((len(rows), len(outputs[0])), dtype=np.float32)
        features[order] = np.stack(outputs)
        return features

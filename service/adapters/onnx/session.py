"""Opens ONNX Runtime sessions and runs token batches on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Encoding

from service.adapters.onnx.kernels import EXACT_ON_REQUEST, fast_kernels_are_exact


class TokenSession:
    """One session of one model; ``run`` may be called from several threads at once."""

    def __init__(self, graph: Path, threads: int) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.use_deterministic_compute = True
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if not fast_kernels_are_exact():
            options.add_session_config_entry(EXACT_ON_REQUEST, "1")
        self._session: Any = ort.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name

    def run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """Return the first output for a batch padded to its longest input: ``[batch, …]``."""
        shape = (len(encodings), max(len(e.ids) for e in encodings))
        feeds = {
            name: np.zeros(shape, dtype=np.int64)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        }
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            feeds["input_ids"][row, :length] = encoding.ids
            feeds["attention_mask"][row, :length] = 1
            feeds["token_type_ids"][row, :length] = encoding.type_ids
        used = {name: value for name, value in feeds.items() if name in self._inputs}
        return np.asarray(self._session.run([self._output], used)[0], dtype=np.float32)

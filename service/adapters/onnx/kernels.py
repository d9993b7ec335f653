"""Finds out whether the fast uint8 x int8 kernels of this CPU are exact.

Without VNNI instructions two products are added in 16 bits and cut off there, and ONNX Runtime has
to be asked for slower kernels. With them the fast ones are exact, and two to three times faster.
Asking the kernels themselves is surer than reading CPU flags on every platform.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

from service.adapters.onnx.graph import CONTRIB, GraphBuilder

EXACT_ON_REQUEST = "session.x64quantprecision"
_DEPTH, _WIDTH = 256, 32
_ROWS = (1, 2, 16, 33)  # kernels differ with the number of rows


@lru_cache(maxsize=1)
def fast_kernels_are_exact() -> bool:
    """Return whether products of the largest values come out as integers say they must."""
    session = _probe()
    largest = np.full((max(_ROWS), _DEPTH), 255, dtype=np.uint8)
    largest[1::2, 1::2] = 128  # neighbours that add up, and neighbours that differ
    return all(_is_exact(session, largest[:rows]) for rows in _ROWS)


def _weights() -> np.ndarray[Any, np.dtype[np.int8]]:
    weights = np.full((_DEPTH, _WIDTH), 127, dtype=np.int8)
    weights[:, 1::2] = -127
    return weights


def _is_exact(session: Any, rows: np.ndarray[Any, np.dtype[np.uint8]]) -> bool:  # noqa: ANN401 - untyped library
    expected = (rows.astype(np.int64) - 128) @ _weights().astype(np.int64)
    return bool(np.array_equal(session.run(["product"], {"rows": rows})[0], expected))


def _probe() -> Any:  # noqa: ANN401 - untyped library
    g = GraphBuilder()
    one, middle = g.const(np.float32(1)), g.const(np.uint8(128))
    product = g.op(
        "MatMulIntegerToFloat",
        "rows",
        g.const(_weights()),
        one,
        g.const(np.ones(_WIDTH, dtype=np.float32)),
        middle,
        domain=CONTRIB,
    )
    rows = helper.make_tensor_value_info("rows", TensorProto.UINT8, ["rows", _DEPTH])
    model = g.model("probe", [rows], {"product": (product, ["rows", _WIDTH])})
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

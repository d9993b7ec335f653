"""A dense layer on int8 weights whose result for one row depends on that row alone.

Each row is quantised by its own largest value; sums of integer products are exact in any order, so
neither the rest of a batch nor its padding can move a result.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from service.adapters.onnx.graph import CONTRIB, GraphBuilder

Float = NDArray[np.float32]
Quantised = tuple[NDArray[np.int8], NDArray[np.float32]]  # weights [in, out], scale per column

_MIDDLE = np.uint8(128)  # stands for zero in a quantised row
_STEPS = 127
_LEAST = np.float32(1e-12)


def zero_points(g: GraphBuilder, rows: str) -> str:
    """Append what every one of so many rows takes for zero; made once for all layers."""
    return g.op("Expand", g.const(_MIDDLE), g.op("Unsqueeze", rows, g.ints(0)))


def linear(g: GraphBuilder, x: str, weights: Quantised, bias: Float, zeros: str) -> str:
    """Append ``x @ W + b`` on rows ``[rows, in]``; ``zeros`` come from ``zero_points``."""
    matrix, scale = weights
    peak = g.op("ReduceMax", g.op("Abs", x), g.ints(1), keepdims=0)
    step = g.op("Max", g.op("Mul", peak, g.const(np.float32(1 / _STEPS))), g.const(_LEAST))
    rows = g.op("QuantizeLinear", x, step, zeros, axis=0)
    product = g.op(
        "MatMulIntegerToFloat",
        rows,
        g.const(matrix),
        g.const(np.float32(1)),
        g.const(scale),
        g.const(_MIDDLE),
        domain=CONTRIB,
    )
    scaled = g.op("Mul", product, g.op("Unsqueeze", step, g.ints(1)))
    return g.op("Add", scaled, g.const(bias))


def joined(parts: list[Quantised], factors: Float) -> Quantised:
    """Return matrices side by side as one, the scale of each column times its factor."""
    matrix = np.concatenate([part[0] for part in parts], axis=1)
    return matrix, np.concatenate([part[1] for part in parts]) * factors

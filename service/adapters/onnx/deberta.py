"""The packaged DeBERTa-v3 encoder, rewritten so that a row's result depends on that row alone.

The source graph quantises activations with one scale for the whole batch, so a pair's score moves
with whatever shares its batch. The same weights are laid out here in a new graph that quantises
every token row by its own largest value (integer products are exact in any order), projects the
relative positions at build time instead of on every call, takes any length up to ``WINDOW`` and
returns feature vectors instead of the policy logits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from service.adapters.onnx.graph import GraphBuilder
from service.adapters.onnx.rowwise import Quantised, joined, linear, zero_points

WINDOW = 256
LAYERS = 12
HIDDEN = 384
HEADS = 6
HEAD_SIZE = HIDDEN // HEADS
EPSILON = 1e-7
SCALE = 1 / math.sqrt(3 * HEAD_SIZE)  # content, content-to-position and position-to-content
SPAN = 256  # position buckets each way
MAX_DISTANCE = 512


class SourceWeights:
    """Reads the tensors of the source graph by the role they play in it."""

    def __init__(self, source: ModelProto) -> None:
        self._tensors = {t.name: t for t in source.graph.initializer}
        self._nodes = {n.name: n for n in source.graph.node}

    def tensor(self, name: str) -> NDArray[Any]:
        """Return a tensor by the end of its name, after the common prefix."""
        return numpy_helper.to_array(self._tensors[f"m.deberta.{name}"])

    def _matrix_name(self, layer: int, path: str) -> str:
        node = self._nodes[f"/m/deberta/encoder/layer.{layer}/{path}/MatMul_quant"]
        return str(node.input[1])

    def quantised(self, layer: int, path: str) -> Quantised:
        """Return a layer's int8 matrix ``[in, out]`` and its scale, repeated per column."""
        name = self._matrix_name(layer, path)
        weights = numpy_helper.to_array(self._tensors[name])
        scale = numpy_helper.to_array(self._tensors[name.replace("_quantized", "_scale")])
        return weights, np.full(weights.shape[1], scale, dtype=np.float32)

    def exact(self, layer: int, path: str) -> NDArray[np.float64]:
        """Return the unquantised matrix that the source keeps for the relative positions."""
        name = self._matrix_name(layer, path).replace("_quantized", "")
        return numpy_helper.to_array(self._tensors[name]).astype(np.float64)


def position_rows() -> NDArray[np.int64]:
    """Return, for each distance from ``-WINDOW`` to ``WINDOW``, its row in the position table."""
    distance = np.arange(-WINDOW, WINDOW + 1)
    middle = SPAN // 2
    size = np.where(np.abs(distance) < middle, middle - 1, np.abs(distance)).astype(np.float64)
    steps = np.log(size / middle) / math.log((MAX_DISTANCE - 1) / middle) * (middle - 1)
    far = (np.ceil(steps) + middle) * np.sign(distance)
    bucket = np.where(size <= middle, distance, far).astype(np.int64)
    return np.clip(bucket + SPAN, 0, 2 * SPAN - 1)


def _normalised_positions(source: SourceWeights) -> NDArray[np.float64]:
    rows = source.tensor("encoder.rel_embeddings.weight").astype(np.float64)
    centred = rows - rows.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt(rows.var(axis=1, keepdims=True) + EPSILON)
    weight, bias = (
        source.tensor("encoder.LayerNorm.weight"),
        source.tensor("encoder.LayerNorm.bias"),
    )
    return np.asarray(scaled * weight + bias, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Shapes:
    """Names of the values that every layer shares."""

    first: str  # [1] WINDOW - length
    last: str  # [1] WINDOW + length
    length: str
    flat: str
    flat_start: str
    flat_end: str
    skewed: str
    zero_points: str
    first_zero_points: str
    mask_bias: str
    batched: str


class EncoderBuilder:
    """Writes the encoder node by node."""

    def __init__(self, source: ModelProto) -> None:
        self.g = GraphBuilder()
        self.source = SourceWeights(source)
        self._positions = _normalised_positions(self.source)

    def norm(self, x: str, name: str) -> str:
        """Append a layer normalisation."""
        weight = self.g.const(self.source.tensor(f"{name}.weight"))
        bias = self.g.const(self.source.tensor(f"{name}.bias"))
        return self.g.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)

    def embed(self, ids: str, mask: str) -> str:
        """Append the token embeddings, normalised and masked: ``[batch, length, hidden]``."""
        g, name = self.g, "embeddings.word_embeddings.weight"
        table = g.op("Gather", g.const(self.source.tensor(f"{name}_quantized")), ids)
        values = g.op(
            "DequantizeLinear",
            table,
            g.const(self.source.tensor(f"{name}_scale")),
            g.const(self.source.tensor(f"{name}_zero_point")),
        )
        return g.op(
            "Mul", self.norm(values, "embeddings.LayerNorm"), g.op("Unsqueeze", mask, g.ints(2))
        )

    def shapes(self, ids: str, mask: str) -> _Shapes:
        """Append what depends on the input's shape only."""
        g = self.g
        length = g.op("Shape", ids, start=1, end=2)
        one, double = g.ints(1), g.op("Mul", length, g.ints(2))
        flat = g.op("Mul", length, double)
        hidden = g.op("Sub", g.const(np.float32(1)), mask)
        heads = g.ints(0, HEADS)
        return _Shapes(
            first=g.op("Sub", g.ints(WINDOW), length),
            last=g.op("Add", g.ints(WINDOW), length),
            length=length,
            flat=g.op("Concat", heads, flat, axis=0),
            flat_start=g.op("Sub", length, one),
            flat_end=g.op("Sub", flat, one),
            skewed=g.op("Concat", heads, length, g.op("Sub", double, one), axis=0),
            zero_points=zero_points(g, g.op("Size", ids)),
            first_zero_points=zero_points(g, g.op("Squeeze", g.op("Shape", ids, start=0, end=1))),
            mask_bias=g.op(
                "Unsqueeze", g.op("Mul", hidden, g.const(np.float32(-1e9))), g.ints(1, 2)
            ),
            batched=g.op("Concat", g.op("Shape", ids), g.ints(-1), axis=0),
        )

    def position_scores(self, x: str, table: NDArray[np.float64], s: _Shapes) -> str:
        """Append position scores ``[batch, heads, length, length]``.

        Row i of ``x @ table`` holds one value per distance; reading it shifted by i turns the
        distance axis into the axis of the other token.
        """
        g = self.g
        heads = table.reshape(2 * WINDOW, HEADS, HEAD_SIZE).transpose(1, 2, 0)[None]
        part = g.op("Slice", g.const(heads.astype(np.float32)), s.first, s.last, g.ints(3))
        flat = g.op("Reshape", g.op("MatMul", x, part), s.flat)
        shifted = g.op("Slice", flat, s.flat_start, s.flat_end, g.ints(2))
        return g.op("Slice", g.op("Reshape", shifted, s.skewed), g.ints(0), s.length, g.ints(3))

    def attention(self, layer: int, x: str, s: _Shapes) -> str:
        """Append self-attention with disentangled positions: rows in, rows out."""
        g, name = self.g, f"encoder.layer.{layer}.attention.self"
        names = ("query_proj", "key_proj", "value_proj")
        parts = [self.source.quantised(layer, f"attention/self/{part}") for part in names]
        biases = [self.source.tensor(f"{name}.{part}.bias") for part in names]
        factors = np.repeat(np.array([SCALE, 1, 1], dtype=np.float32), HIDDEN)
        matrix = joined(parts, factors)
        rows = linear(g, x, matrix, np.concatenate(biases) * factors, s.zero_points)
        split = g.ops("Split", g.op("Reshape", rows, s.batched), outputs=3, axis=2, num_outputs=3)
        query, key, value = (
            g.op("Transpose", g.op("Reshape", p, g.ints(0, 0, HEADS, HEAD_SIZE)), perm=[0, 2, 1, 3])
            for p in split
        )
        table = position_rows()
        distance = np.arange(2 * WINDOW)
        key_rows = self._positions @ self.source.exact(layer, "attention/self/key_proj") + biases[1]
        query_rows = (
            self._positions @ self.source.exact(layer, "attention/self/query_proj") + biases[0]
        ) * SCALE
        by_key = self.position_scores(query, key_rows[table[2 * WINDOW - 1 - distance]], s)
        by_query = self.position_scores(key, query_rows[table[distance + 1]], s)
        scores = g.op(
            "Add", g.op("MatMul", query, g.op("Transpose", key, perm=[0, 1, 3, 2])), by_key
        )
        scores = g.op("Add", scores, g.op("Transpose", by_query, perm=[0, 1, 3, 2]))
        weights = g.op("Softmax", g.op("Add", scores, s.mask_bias), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", weights, value), perm=[0, 2, 1, 3])
        return g.op("Reshape", mixed, g.ints(-1, HIDDEN))

    def first(self, x: str, s: _Shapes) -> str:
        """Append the row of each text's first token: rows in, ``[batch, hidden]`` out."""
        return self.g.op(
            "Gather", self.g.op("Reshape", x, s.batched), self.g.const(np.int64(0)), axis=1
        )

    def layer(self, index: int, x: str, s: _Shapes, *, last: bool) -> str:
        """Append one transformer layer: rows in, rows out.

        After the last one nobody looks at any token but the first, so only its row goes on.
        """
        name = f"encoder.layer.{index}"
        zeros = s.first_zero_points if last else s.zero_points

        def dense(values: str, path: str) -> str:
            bias = self.source.tensor(f"{name}.{path.replace('/', '.')}.bias")
            return linear(self.g, values, self.source.quantised(index, path), bias, zeros)

        mixed = self.attention(index, x, s)
        if last:
            mixed, x = self.first(mixed, s), self.first(x, s)
        mixed = dense(mixed, "attention/output/dense")
        x = self.norm(self.g.op("Add", mixed, x), f"{name}.attention.output.LayerNorm")
        inner = self.g.op("Gelu", dense(x, "intermediate/dense"))
        return self.norm(
            self.g.op("Add", dense(inner, "output/dense"), x), f"{name}.output.LayerNorm"
        )


def build_encoder(source: ModelProto, layers: Sequence[int] = (LAYERS,)) -> ModelProto:
    """Return the encoder as a new model.

    Inputs are ``input_ids`` and ``attention_mask`` (int64 ``[batch, length]``, length 1 to
    ``WINDOW``). The output ``features`` is float32 ``[batch, hidden * len(layers)]``: the vector of
    ``[CLS]`` after each of ``layers`` (1 is the first). It is bit for bit the same whatever else
    is in the batch and however far the batch is padded.
    """
    build = EncoderBuilder(source)
    g = build.g
    mask = g.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    shapes = build.shapes("input_ids", mask)
    x = g.op("Reshape", build.embed("input_ids", mask), g.ints(-1, HIDDEN))
    features = []
    for index in range(max(layers)):
        last = index + 1 == max(layers)
        x = build.layer(index, x, shapes, last=last)
        if index + 1 in layers:
            features.append(x if last else build.first(x, shapes))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    width = HIDDEN * len(layers)
    joined = g.op("Concat", *features, axis=1)
    return g.model("encoder", inputs, {"features": (joined, ["batch", width])})

"""The packaged MiniLM encoder, laid out anew on its weights as they are stored.

The source graph turns every int8 weight into float when it is loaded, which takes four times the
memory, and multiplies floats, which takes more than twice the time. Here tables stay int8 until a
row is looked up, and dense layers work by row (``rowwise``), so that a text's vector depends on
nothing else in its batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from service.adapters.onnx.graph import GraphBuilder
from service.adapters.onnx.rowwise import Quantised, joined, linear, zero_points

LAYERS = 6
HIDDEN = 384
HEADS = 12
HEAD_SIZE = HIDDEN // HEADS
EPSILON = 1e-12
_PARTS = ("query", "key", "value")
_HIDES = np.float32(-1e9)


class SourceWeights:
    """Reads the tensors of the source graph by the role they play in it.

    Matrices have no names of their own there; a dense layer's is the one whose product its bias is
    added to.
    """

    def __init__(self, source: ModelProto) -> None:
        self._tensors = {t.name: t for t in source.graph.initializer}
        products = {n.output[0]: n.input[1] for n in source.graph.node if n.op_type == "MatMul"}
        self._matrices = {
            bias: products[product]
            for node in source.graph.node
            if node.op_type == "Add"
            for product, bias in (tuple(node.input), tuple(node.input)[::-1])
            if product in products
        }

    def tensor(self, name: str) -> NDArray[Any]:
        """Return a tensor by the end of its name, after the common prefix."""
        return numpy_helper.to_array(self._tensors[f"inner.{name}"])

    def quantised(self, path: str) -> Quantised:
        """Return a dense layer's int8 matrix ``[in, out]`` and its scale per column."""
        name = self._matrices[f"inner.{path}.bias"]
        weights = numpy_helper.to_array(self._tensors[f"{name}_q"])
        scale = numpy_helper.to_array(self._tensors[f"{name}_scale"])
        return weights, np.broadcast_to(scale.reshape(-1), weights.shape[1:]).astype(np.float32)


class EncoderBuilder:
    """Writes the encoder node by node."""

    def __init__(self, source: ModelProto) -> None:
        self.g = GraphBuilder()
        self.source = SourceWeights(source)

    def norm(self, x: str, name: str) -> str:
        """Append a layer normalisation."""
        weight = self.g.const(self.source.tensor(f"{name}.weight"))
        bias = self.g.const(self.source.tensor(f"{name}.bias"))
        return self.g.op("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)

    def looked_up(self, table: str, ids: str) -> str:
        """Append rows of an int8 table, each times its own scale."""
        g, name = self.g, f"embeddings.{table}.weight"
        rows = g.op("Gather", g.const(self.source.tensor(f"{name}_q")), ids)
        scale = g.op("Gather", g.const(self.source.tensor(f"{name}_scale")), ids)
        return g.op("Mul", g.op("Cast", rows, to=TensorProto.FLOAT), scale)

    def embed(self, ids: str) -> str:
        """Append the token embeddings: ``[batch, length, hidden]``."""
        g = self.g
        length = g.op("Squeeze", g.op("Shape", ids, start=1, end=2))
        places = g.op("Range", g.const(np.int64(0)), length, g.const(np.int64(1)))
        kind = self.source.tensor("embeddings.token_type_embeddings.weight")[0]
        words = self.looked_up("word_embeddings", ids)
        tokens = g.op("Add", words, self.looked_up("position_embeddings", places))
        return self.norm(g.op("Add", tokens, g.const(kind)), "embeddings.LayerNorm")

    def hidden_scores(self, mask: str) -> str:
        """Append what keeps attention away from padding: ``[batch, 1, 1, length]``."""
        g = self.g
        padding = g.op("Sub", g.const(np.float32(1)), g.op("Cast", mask, to=TensorProto.FLOAT))
        return g.op("Unsqueeze", g.op("Mul", padding, g.const(_HIDES)), g.ints(1, 2))

    def dense(self, x: str, path: str, zeros: str) -> str:
        """Append a dense layer: rows in, rows out."""
        bias = self.source.tensor(f"{path}.bias")
        return linear(self.g, x, self.source.quantised(path), bias, zeros)

    def attention(self, x: str, name: str, batched: str, zeros: str, hidden: str) -> str:
        """Append self-attention: rows in, rows out."""
        g = self.g
        paths = [f"{name}.attention.self.{part}" for part in _PARTS]
        factors = np.repeat(np.array([1 / math.sqrt(HEAD_SIZE), 1, 1], dtype=np.float32), HIDDEN)
        biases = np.concatenate([self.source.tensor(f"{path}.bias") for path in paths])
        weights = joined([self.source.quantised(path) for path in paths], factors)
        rows = g.op("Reshape", linear(g, x, weights, biases * factors, zeros), batched)
        query, key, value = (
            g.op("Transpose", g.op("Reshape", part, g.ints(0, 0, HEADS, HEAD_SIZE)), perm=order)
            for part, order in zip(
                g.ops("Split", rows, outputs=3, axis=2, num_outputs=3),
                ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]),
                strict=True,
            )
        )
        scores = g.op("Add", g.op("MatMul", query, key), hidden)
        mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), value)
        return g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), g.ints(-1, HIDDEN))

    def layer(self, index: int, x: str, batched: str, zeros: str, hidden: str) -> str:
        """Append one transformer layer: rows in, rows out."""
        g, name = self.g, f"encoder.layer.{index}"
        mixed = self.attention(x, name, batched, zeros, hidden)
        said = self.dense(mixed, f"{name}.attention.output.dense", zeros)
        x = self.norm(g.op("Add", said, x), f"{name}.attention.output.LayerNorm")
        inner = g.op("Gelu", self.dense(x, f"{name}.intermediate.dense", zeros))
        outer = self.dense(inner, f"{name}.output.dense", zeros)
        return self.norm(g.op("Add", outer, x), f"{name}.output.LayerNorm")


def build_encoder(source: ModelProto) -> ModelProto:
    """Return the encoder as a new model.

    Inputs are ``input_ids`` and ``attention_mask`` (int64 ``[batch, length]``); the output
    ``last_hidden_state`` is float32 ``[batch, length, hidden]``, for each text bit for bit the same
    whatever else is in the batch and however far the batch is padded.
    """
    build = EncoderBuilder(source)
    g = build.g
    batched = g.op("Concat", g.op("Shape", "input_ids"), g.ints(-1), axis=0)
    zeros, hidden = zero_points(g, g.op("Size", "input_ids")), build.hidden_scores("attention_mask")
    x = g.op("Reshape", build.embed("input_ids"), g.ints(-1, HIDDEN))
    for index in range(LAYERS):
        x = build.layer(index, x, batched, zeros, hidden)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    output = g.op("Reshape", x, batched)
    return g.model("minilm", inputs, {"last_hidden_state": (output, ["batch", "sequence", HIDDEN])})

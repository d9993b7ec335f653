"""spaCy's token vectors, computed by ONNX Runtime.

The pipeline makes the vectors of its tokens twice, once for the tagger and the parser and once for
the entities, and each takes dozens of small steps in Python. The same arithmetic on the same
weights is written down here as one graph per set of vectors: hashed embeddings, then layers of
"maxout" over a window of three tokens (Miranda et al. 2022, "Multi hash embeddings in spaCy").
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper

from service.adapters.onnx.graph import GraphBuilder

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline.trainable_pipe import TrainablePipe
    from spacy.tokens import Doc
    from thinc.api import Model

    Layer = Model[Any, Any]

logger = logging.getLogger(__name__)
_EPSILON = 1e-8  # thinc's, of its layer normalisation
_HASHES = 4  # rows of a table whose sum is the embedding of one key
_TOLERANCE = 1e-4
_SAMPLE = ("I moved to Lisbon in May 2024, didn't I?", "Ana's sister pays 40 euros.")


class TokenVectors:
    """The vectors of the tokens of documents, as one component of the pipeline makes them."""

    def __init__(self, source: Layer) -> None:
        """Read the layers of a thinc model; raise ``ValueError`` if they are not as expected."""
        layers = _Layers(source)
        self._ops: Any = source.ops
        self._columns, self._pad = layers.columns, layers.pad
        self._seeds = [int(table.attrs["seed"]) for table in layers.tables]
        sizes = [int(table.get_dim("nV")) for table in layers.tables]
        self._sizes = np.array(sizes, dtype=np.uint32)[:, None, None]
        self._starts = np.cumsum([0, *sizes[:-1]])[:, None, None]
        self.width = int(source.get_dim("nO"))
        self._session = _session(_graph(layers))

    def __call__(self, docs: Sequence[Doc]) -> list[NDArray[np.float32]]:
        """Return float32 ``[tokens, width]`` for each document."""
        lengths = [len(doc) for doc in docs]
        if not any(lengths):
            return [np.zeros((0, self.width), dtype=np.float32) for _ in docs]
        ids = np.concatenate([doc.to_array(self._columns) for doc in docs if len(doc)])
        hashed = [
            self._ops.hash(np.ascontiguousarray(ids[:, n]), seed)
            for n, seed in enumerate(self._seeds)
        ]
        rows = np.stack(hashed) % self._sizes + self._starts
        feeds = {"rows": rows.transpose(1, 0, 2), "places": _places(lengths, self._pad)}
        found: NDArray[np.float32] = self._session.run(None, feeds)[0]
        return np.split(found, np.cumsum(lengths[:-1]))


def quicken(nlp: Language) -> list[str]:
    """Let ONNX Runtime make a pipeline's token vectors; return the components that it does so for.

    A component stays as it is where its layers are not those that are known here, or where what
    comes out is not the same.
    """
    from thinc.api import Model  # noqa: PLC0415 - slow to import, and only needed here

    done: list[str] = []
    for name, model in _sources(nlp):
        try:
            vectors = TokenVectors(model)
        except (ValueError, KeyError) as error:
            logger.warning("the token vectors of %s stay with spaCy: %s", name, error)
            continue
        if not _agrees(nlp, model, vectors):
            logger.warning("the token vectors of %s stay with spaCy: they differ", name)
            continue
        made: Layer = Model("token_vectors", _forward(vectors), dims={"nO": vectors.width})
        _replace(nlp.get_pipe(name), model, made)
        done.append(name)
    return done


class _Layers:
    """What a graph is made of, read from a thinc model."""

    def __init__(self, source: Layer) -> None:
        nodes = list(source.walk(order="dfs_pre"))
        self.tables = [n for n in nodes if n.name == "hashembed"]
        self.dense = list(
            zip(
                [n for n in nodes if n.name == "maxout"],
                [n for n in nodes if n.name == "layernorm"],
                strict=True,
            )
        )
        columns = [n.attrs["columns"] for n in nodes if n.name == "extract_features"]
        windows = [n.attrs["window_size"] for n in nodes if n.name == "expand_window"]
        residual = sum(n.name.startswith("residual(") and n.name.count("(") == 1 for n in nodes)
        if len(columns) != 1 or len(columns[0]) != len(self.tables) or len(self.tables) == 1:
            raise ValueError("the embeddings are others")
        if windows != [1] * (len(self.dense) - 1) or residual < len(windows):
            raise ValueError("the layers are others")
        self.columns: list[Any] = columns[0]
        self.pad = len(windows)


def _graph(layers: _Layers) -> ModelProto:
    """Return ``rows`` [tokens, tables, hashes] and ``places`` [padded] to ``vectors``."""
    g = GraphBuilder()
    table = np.concatenate([np.asarray(t.get_param("E")) for t in layers.tables])
    summed = g.op("ReduceSum", g.op("Gather", g.const(table), "rows"), g.ints(2), keepdims=0)
    first, *windowed = layers.dense
    x = _maxout(g, g.op("Reshape", summed, g.ints(0, -1)), first)
    width = int(first[0].get_dim("nO"))
    nothing = g.const(np.zeros((1, width), dtype=np.float32))
    x = g.op("Gather", g.op("Concat", nothing, x, axis=0), "places")
    for layer in windowed:
        wide = g.op("Concat", nothing, x, nothing, axis=0)
        before = g.op("Slice", wide, g.ints(0), g.ints(-2), g.ints(0))
        after = g.op("Slice", wide, g.ints(2), g.ints(np.iinfo(np.int64).max), g.ints(0))
        x = g.op("Add", _maxout(g, g.op("Concat", before, x, after, axis=1), layer), x)
    real = g.op("Squeeze", g.op("NonZero", "places"), g.ints(0))
    inputs = [
        helper.make_tensor_value_info("rows", TensorProto.INT64, ["tokens", len(layers.tables), 4]),
        helper.make_tensor_value_info("places", TensorProto.INT64, ["padded"]),
    ]
    return g.model("vectors", inputs, {"vectors": (g.op("Gather", x, real), ["tokens", width])})


def _maxout(g: GraphBuilder, x: str, layer: tuple[Any, Any]) -> str:
    """Append a dense layer that keeps the largest of its pieces, normalised."""
    dense, norm = layer
    weights, bias = np.asarray(dense.get_param("W")), np.asarray(dense.get_param("b"))
    outputs, pieces, inputs = weights.shape
    matrix = g.const(weights.transpose(2, 1, 0).reshape(inputs, pieces * outputs))
    values = g.op("Gemm", x, matrix, g.const(bias.T.reshape(-1)))
    parts = g.ops("Split", values, outputs=pieces, axis=1, num_outputs=pieces)
    scale, shift = (g.const(np.asarray(norm.get_param(name))) for name in ("G", "b"))
    best = g.op("Max", *parts)
    return g.op("LayerNormalization", best, scale, shift, axis=-1, epsilon=_EPSILON)


def _places(lengths: Sequence[int], pad: int) -> NDArray[np.int64]:
    """Return which token stands where, from 1; 0 is the nothing between documents."""
    filled = [n for n in lengths if n]
    places = np.zeros(sum(filled) + pad * (len(filled) + 1), dtype=np.int64)
    at, token = pad, 1
    for length in filled:
        places[at : at + length] = np.arange(token, token + length)
        at, token = at + length + pad, token + length
    return places


def _session(model: ModelProto) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _sources(nlp: Language) -> list[tuple[str, Layer]]:
    """Return the models that make token vectors, by the component they belong to."""
    found: list[tuple[str, Layer]] = []
    for name, pipe in nlp.pipeline:
        model: Layer | None = getattr(pipe, "model", None)
        nodes = list(model.walk()) if model is not None else []
        own = [n for n in nodes if any(m.name == "hashembed" for m in n.walk())]
        complete = [n for n in own if any(m.name == "expand_window" for m in n.walk())]
        if complete:
            found.append((name, min(complete, key=lambda n: len(list(n.walk())))))
    return found


def _agrees(nlp: Language, model: Layer, vectors: TokenVectors) -> bool:
    docs = [nlp.make_doc(text) for text in (*_SAMPLE, "")]
    pairs = zip(model.predict(docs), vectors(docs), strict=True)
    return all(a.shape == b.shape and bool(np.all(np.abs(a - b) < _TOLERANCE)) for a, b in pairs)


def _forward(vectors: TokenVectors) -> Callable[..., Any]:
    def forward(
        _model: Layer, docs: Sequence[Doc], is_train: bool
    ) -> tuple[list[NDArray[np.float32]], Callable[[object], object]]:
        if is_train:
            raise TypeError("these vectors are not for training")
        return vectors(docs), lambda gradient: gradient

    return forward


def _replace(pipe: TrainablePipe, old: Layer, new: Layer) -> None:
    if pipe.model is old:
        pipe.model = new
    else:
        pipe.model.replace_node(old, new)

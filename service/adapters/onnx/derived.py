"""Keeps the graphs that are derived from packaged ones, so that each is built only once.

The derived file's bytes depend on the numpy and protobuf builds, so its hash is recorded beside
it together with the source's hash and the recipe. A file that does not match its record is never
served: it is built again from the source, whose hash the manifest fixes.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from filelock import FileLock
from onnx import ModelProto

from service.adapters.onnx import deberta, minilm
from service.adapters.onnx.manifest import file_sha256
from service.domain.errors import Unavailable

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a graph is made; ``name`` changes with the result, ``model`` is what errors name."""

    name: str
    model: str
    build: Callable[[ModelProto], ModelProto]


def deberta_recipe(layers: Sequence[int]) -> Recipe:
    """Return how the entailment encoder is made that gives the vectors of these layers."""
    name = f"deberta-rowwise-2-{'-'.join(map(str, layers))}"
    return Recipe(name, "nli model", lambda source: deberta.build_encoder(source, layers))


MINILM = Recipe("minilm-rowwise-1", "embedder model", minilm.build_encoder)


def derived_graph(recipe: Recipe, source: Path, source_sha256: str, models_dir: Path) -> Path:
    """Return the path of the derived graph, building it first where it is missing or not intact.

    Raises:
        Unavailable: the folder cannot be written; names the file.

    """
    graph = models_dir / f"{recipe.name}-{source_sha256[:16]}.onnx"
    record = graph.with_suffix(".json")
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        with FileLock(graph.with_suffix(".lock")):
            if not _intact(recipe, graph, record, source_sha256):
                _build(recipe, source, source_sha256, graph)
    except OSError as error:
        raise Unavailable(recipe.model, f"{graph}: cannot be written ({error})") from error
    return graph


def _intact(recipe: Recipe, graph: Path, record: Path, source_sha256: str) -> bool:
    if not graph.exists() or not record.exists():
        return False
    try:
        expected = json.loads(record.read_text(encoding="utf-8"))
        known = expected["source_sha256"] == source_sha256 and expected["recipe"] == recipe.name
        intact = bool(known and expected["sha256"] == file_sha256(graph))
    except (ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        logger.warning("%s does not match its record and is built again", graph)
    return intact


def _build(recipe: Recipe, source: Path, source_sha256: str, graph: Path) -> None:
    model = recipe.build(onnx.load(source))
    _write(graph, model.SerializeToString(deterministic=True))
    content = {
        "recipe": recipe.name,
        "source_sha256": source_sha256,
        "sha256": file_sha256(graph),
        "onnx": onnx.__version__,
    }
    _write(graph.with_suffix(".json"), json.dumps(content, indent=2).encode())


def _write(path: Path, content: bytes) -> None:
    """Replace a file in one step: readers see the old content or the new, never a part."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)

"""Keeps the encoder that is derived from the packaged graph, so that it is built only once.

The derived file's bytes depend on the numpy and protobuf builds, so its hash is recorded beside
it together with the source's hash and the recipe. A file that does not match its record is never
served: it is built again from the source, whose hash the manifest fixes.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import onnx
from filelock import FileLock

from service.adapters.onnx.deberta import build_encoder
from service.adapters.onnx.manifest import file_sha256
from service.domain.errors import Unavailable

RECIPE = "deberta-rowwise-1"
logger = logging.getLogger(__name__)


def derived_encoder(
    source: Path, source_sha256: str, models_dir: Path, layers: Sequence[int]
) -> Path:
    """Return the path of the derived graph, building it first where it is missing or not intact.

    Raises:
        Unavailable: the folder cannot be written; names the file.

    """
    graph = models_dir / f"{RECIPE}-{source_sha256[:16]}-{'-'.join(map(str, layers))}.onnx"
    record = graph.with_suffix(".json")
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        with FileLock(graph.with_suffix(".lock")):
            if not _intact(graph, record, source_sha256):
                _build(source, source_sha256, graph, record, layers)
    except OSError as error:
        raise Unavailable("nli model", f"{graph}: cannot be written ({error})") from error
    return graph


def _intact(graph: Path, record: Path, source_sha256: str) -> bool:
    if not graph.exists() or not record.exists():
        return False
    try:
        expected = json.loads(record.read_text(encoding="utf-8"))
        known = expected["source_sha256"] == source_sha256 and expected["recipe"] == RECIPE
        intact = bool(known and expected["sha256"] == file_sha256(graph))
    except (ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        logger.warning("%s does not match its record and is built again", graph)
    return intact


def _build(
    source: Path, source_sha256: str, graph: Path, record: Path, layers: Sequence[int]
) -> None:
    model = build_encoder(onnx.load(source), layers)
    _write(graph, model.SerializeToString(deterministic=True))
    content = {
        "recipe": RECIPE,
        "source_sha256": source_sha256,
        "sha256": file_sha256(graph),
        "onnx": onnx.__version__,
    }
    _write(record, json.dumps(content, indent=2).encode())


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

"""Builds the running models from the manifest: the only entry point for the composition root."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from service.adapters.onnx.batcher import BatchLimits, MicroBatcher
from service.adapters.onnx.derived import MINILM, Recipe, deberta_recipe, derived_graph
from service.adapters.onnx.embedder import OnnxEmbedder, mean_of_tokens
from service.adapters.onnx.head import CLASSES, load_head
from service.adapters.onnx.manifest import (
    FOLDER_MANIFEST,
    ModelEntry,
    read_manifest,
    verified_files,
)
from service.adapters.onnx.nli import OnnxEntailment
from service.adapters.onnx.session import TokenSession
from service.adapters.onnx.windows import WindowTokenizer
from service.domain.errors import Unavailable

FEATURE_LAYERS = (11, 12)  # the head was trained on these layers' [CLS] vectors
WARM_UP = ("I moved to Lisbon in May.", "The user lives in Lisbon.")
Rows = Callable[[list[Encoding]], Sequence[NDArray[np.float32]]]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How models are loaded and run."""

    models_dir: Path  # where the derived graph is kept, usually DATA_DIR/models
    threads: int = 1  # ONNX Runtime threads within one batch
    workers: int = 0  # batches that run at once per model; 0: one per CPU, at most two
    queue_size: int = 512  # windows waiting per model before callers are turned away
    cache_size: int = 8192  # remembered pairs, and remembered texts
    nli_folder: Path | None = None  # an exported model instead of the packaged one
    embedder_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class LoadedModels:
    """The models of a running process."""

    nli: OnnxEntailment
    embedder: OnnxEmbedder

    def close(self) -> None:
        """Finish what is queued, then refuse anything new."""
        self.nli.close()
        self.embedder.close()


def load_models(settings: ModelSettings) -> LoadedModels:
    """Verify, load and warm up the models.

    Raises:
        Unavailable: a file is missing, differs from its manifest or cannot be loaded; names it.

    """
    nli = load_entailment(entry_for("nli", settings.nli_folder), settings)
    try:
        embedder = load_embedder(entry_for("embedder", settings.embedder_folder), settings)
    except BaseException:
        nli.close()
        raise
    return LoadedModels(nli, embedder)


def entry_for(role: str, folder: Path | None) -> ModelEntry:
    """Return the manifest entry for a role: packaged, or from an exported folder.

    Raises:
        Unavailable: the manifest has no model of that role.

    """
    entries = read_manifest(folder / FOLDER_MANIFEST) if folder else read_manifest()
    for entry in entries:
        if entry.role == role:
            return entry
    raise Unavailable(f"{role} model", f"{folder or 'the packaged manifest'} has none")


def load_entailment(entry: ModelEntry, settings: ModelSettings) -> OnnxEntailment:
    """Load one entailment model, packaged (encoder and head) or exported (its own logits)."""
    files = verified_files(entry)
    graph, logits = files["graph"], None
    if entry.kind == "deberta-with-head":
        graph = _derived(deberta_recipe(FEATURE_LAYERS), entry, graph, settings)
        logits = load_head(files["head"]).logits
    elif entry.kind != "sequence-classification" or sorted(entry.labels) != sorted(CLASSES):
        raise Unavailable("nli model", f"{entry.model_id}: {entry.kind} with labels {entry.labels}")
    order = [entry.labels.index(name) for name in CLASSES]
    tokenizer = WindowTokenizer(files["tokenizer"], entry.window)
    session = TokenSession(graph, settings.threads)
    for encoding in tokenizer.pair(*WARM_UP):
        session.run([encoding])
    return OnnxEntailment(
        entry.identity(),
        tokenizer,
        MicroBatcher("nli model", lambda batch: list(session.run(batch)), limits(entry, settings)),
        logits or (lambda row: row.astype(np.float64)[order]),
        settings.cache_size,
    )


def load_embedder(entry: ModelEntry, settings: ModelSettings) -> OnnxEmbedder:
    """Load one embedding model."""
    files = verified_files(entry)
    graph = files["graph"]
    if entry.kind == "minilm":
        graph = _derived(MINILM, entry, graph, settings)
    elif entry.kind != "mean-pooled":
        raise Unavailable("embedder model", f"{entry.model_id}: unknown kind {entry.kind}")
    session = TokenSession(graph, settings.threads)

    def run(batch: list[Encoding]) -> list[NDArray[np.float32]]:
        return mean_of_tokens(session.run(batch), batch)

    return OnnxEmbedder(
        entry.identity(),
        WindowTokenizer(files["tokenizer"], entry.window),
        MicroBatcher("embedder model", run, limits(entry, settings)),
        settings.cache_size,
    )


def _derived(recipe: Recipe, entry: ModelEntry, graph: Path, settings: ModelSettings) -> Path:
    sha256 = next(f.sha256 for f in entry.files if f.part == "graph")
    return derived_graph(recipe, graph, sha256, settings.models_dir)


def limits(entry: ModelEntry, settings: ModelSettings) -> BatchLimits:
    """Return how a model's batcher gathers."""
    workers = settings.workers or min(2, os.cpu_count() or 1)
    return BatchLimits(workers=workers, queue_size=settings.queue_size, max_items=entry.batch)

"""Export a model from the Hub or a local folder to a folder that the service can load.

Needs the extra ``export`` (optimum, torch, transformers), which the service itself never imports.
The folder receives the fp32 graph, the int8 graph, ``tokenizer.json`` and ``manifest.json``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from service.adapters.onnx.head import CLASSES
from service.adapters.onnx.manifest import FOLDER_MANIFEST, file_sha256
from service.domain.errors import InvalidInput, Unavailable

TASKS = {
    "nli": ("text-classification", "sequence-classification"),
    "embedder": ("feature-extraction", "mean-pooled"),
    "toxicity": ("text-classification", "sequence-classification"),
}
FP32, INT8, TOKENIZER = "model.onnx", "model_int8.onnx", "tokenizer.json"
TOLERANCE = 1e-3  # largest difference between the fp32 graph and the original
LARGEST_WINDOW = 512
SAMPLES = (
    ("I moved to Lisbon in May.", "The user lives in Lisbon."),
    ("My son plays football on Saturdays.", "The user plays the violin."),
    ("I don't eat meat any more.", "The user eats meat."),
)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported and how far it is from the original (largest difference of an output)."""

    folder: Path
    labels: tuple[str, ...]
    window: int
    fp32_difference: float
    int8_difference: float


def export_model(
    role: str, from_: str, out_dir: Path, *, quantised: bool = True, revision: str = "main"
) -> ExportReport:
    """Export ``from_`` (Hub id or local folder) for ``role`` (nli, embedder, toxicity).

    Dynamic int8 takes one scale over a whole batch, so an int8 graph is marked to run one input
    at a time; ``quantised=False`` serves the fp32 graph, in batches.

    Raises:
        InvalidInput: the role is unknown, or an NLI model lacks one of the three labels.
        Unavailable: the extra is not installed, or the export differs from the original.

    """
    if role not in TASKS:
        raise InvalidInput("role", f"must be one of {', '.join(TASKS)}")
    task, kind = TASKS[role]
    original, tokenizer, forward = _original(role, from_, revision)
    labels = _labels(role, original.config)
    window = _window(original.config, tokenizer)
    out_dir.mkdir(parents=True, exist_ok=True)
    _export(from_, revision, task, out_dir)
    tokenizer.backend_tokenizer.save(str(out_dir / TOKENIZER))
    report = ExportReport(
        out_dir,
        labels,
        window,
        _difference(out_dir / FP32, tokenizer, forward),
        _difference(out_dir / INT8, tokenizer, forward),
    )
    if report.fp32_difference > TOLERANCE:
        raise Unavailable(f"{role} model", f"the export differs by {report.fp32_difference:.2g}")
    served = INT8 if quantised else FP32
    _write_manifest(report, role=role, kind=kind, source=from_, revision=revision, served=served)
    return report


def _original(
    role: str, from_: str, revision: str
) -> tuple[Any, Any, Callable[[dict[str, Any]], NDArray[np.float32]]]:
    try:
        import torch  # noqa: PLC0415 - an optional extra
        from transformers import (  # noqa: PLC0415
            AutoModel,
            AutoModelForSequenceClassification,
            AutoTokenizer,
        )
    except ImportError as error:
        raise Unavailable("export", f"needs the extra 'export': {error}") from error
    loader = AutoModel if role == "embedder" else AutoModelForSequenceClassification
    model = loader.from_pretrained(from_, revision=revision).eval()
    tokenizer = AutoTokenizer.from_pretrained(from_, revision=revision, use_fast=True)

    def forward(inputs: dict[str, Any]) -> NDArray[np.float32]:
        with torch.no_grad():
            tensors = {name: torch.from_numpy(value) for name, value in inputs.items()}
            output = model(**tensors)[0]
        return np.asarray(output.numpy(), dtype=np.float32)

    return model, tokenizer, forward


def _labels(role: str, config: Any) -> tuple[str, ...]:  # noqa: ANN401 - a transformers config
    if role == "embedder":
        return ()
    labels = tuple(str(config.id2label[i]).lower() for i in range(config.num_labels))
    if role == "nli" and sorted(labels) != sorted(CLASSES):
        raise InvalidInput("from", f"its labels are {labels}, an NLI model has {CLASSES}")
    return labels


def _window(config: Any, tokenizer: Any) -> int:  # noqa: ANN401 - transformers objects
    return int(min(config.max_position_embeddings, tokenizer.model_max_length, LARGEST_WINDOW))


def _export(from_: str, revision: str, task: str, out_dir: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415
    from optimum.exporters.onnx import main_export  # noqa: PLC0415 - an optional extra

    work = out_dir / "export.part"
    main_export(
        from_, work, task=task, revision=revision, library_name="transformers", do_validation=False
    )
    (work / FP32).replace(out_dir / FP32)
    shutil.rmtree(work)
    quantize_dynamic(out_dir / FP32, out_dir / INT8, weight_type=QuantType.QInt8, per_channel=True)


def _difference(
    graph: Path,
    tokenizer: Any,  # noqa: ANN401 - a transformers tokenizer
    forward: Callable[[dict[str, Any]], NDArray[np.float32]],
) -> float:
    session = ort.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    worst = 0.0
    for pair in SAMPLES:
        inputs = dict(tokenizer(*pair, return_tensors="np"))
        feeds = {k: v.astype(np.int64) for k, v in inputs.items() if k in names}
        output = session.run(None, feeds)[0]
        worst = max(worst, float(np.abs(output - forward(inputs)).max()))
    return worst


def _write_manifest(
    report: ExportReport, *, role: str, kind: str, source: str, revision: str, served: str
) -> None:
    files = {"graph": served, "tokenizer": TOKENIZER}
    name = Path(source).name if Path(source).exists() else source
    entry = {
        "id": f"{name}/{Path(served).stem}",
        "role": role,
        "kind": kind,
        "source": name,
        "revision": revision,
        "licence": "see the source",
        "window": report.window,
        "batch": 1 if served == INT8 else 32,
        "labels": list(report.labels),
        "files": [
            {"part": part, "path": path, "sha256": file_sha256(report.folder / path)}
            for part, path in files.items()
        ],
    }
    text = json.dumps({"models": [entry]}, indent=2, ensure_ascii=False)
    (report.folder / FOLDER_MANIFEST).write_text(text + "\n", encoding="utf-8")

"""Train the NLI head: ``python -m service.modelkit.train_head --data ../shared/data``.

Several small networks with one hidden layer each, on standardised features of the packaged encoder;
their logits are averaged, which makes them one wider network. The scaling and a temperature, fitted
on premises the head has not seen, are folded into the weights. The held-out sets and the cases are
only ever scored. The same data and seed give the same file.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.adapters.onnx.head import CLASSES
from service.adapters.onnx.manifest import PACKAGED, file_sha256, read_manifest
from service.modelkit import calibration
from service.modelkit.dataset import HELD_OUT, Row, case_rows, read_rows, training_rows
from service.modelkit.features import FeatureSource
from service.modelkit.phrasings import phrased
from service.modelkit.transitions import transition_rows

SEED = 7
MEMBERS = 6  # networks whose logits are averaged
HIDDEN = 64  # units of each
DECAY = 3.0  # L2 penalty; with the epochs chosen on the validation rows
EPOCHS = 6
FILLINGS = 5  # how often each sentence of the transitions is filled in
PHRASED = 4_000  # synth_user rows that are put in the gate's phrasings


Layer = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """Weights ``[out, in]`` and bias of each layer; the last gives the order of ``CLASSES``."""

    layers: tuple[Layer, ...]

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return ``[rows, 3]``."""
        values = features.astype(np.float64)
        for index, (weights, bias) in enumerate(self.layers):
            values = (np.maximum(values, 0) if index else values) @ weights.T.astype(
                np.float64
            ) + bias
        return values


def label_indices(rows: Sequence[Row]) -> NDArray[np.int64]:
    """Return each row's class as its place in ``CLASSES``."""
    return np.array([CLASSES.index(row.label) for row in rows], dtype=np.int64)


def fit(features: NDArray[np.float32], labels: NDArray[np.int64]) -> TrainedHead:
    """Return an uncalibrated head; needs scikit-learn (extra ``train``)."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an optional extra
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    scaled = (features - mean) / spread
    members = []
    with threadpool_limits(1), warnings.catch_warnings():  # sums in one order on any machine
        warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs are few on purpose
        for member in range(MEMBERS):
            model = MLPClassifier(
                (HIDDEN,),
                alpha=DECAY,
                max_iter=EPOCHS,
                batch_size=256,
                learning_rate_init=5e-4,
                random_state=SEED + member,
            )
            members.append(model.fit(scaled, labels))
    first = np.concatenate([m.coefs_[0] for m in members], axis=1).T / spread
    first_bias = np.concatenate([m.intercepts_[0] for m in members]) - first @ mean
    last = np.concatenate([m.coefs_[1] for m in members]).T / MEMBERS
    last_bias = np.mean([m.intercepts_[1] for m in members], axis=0)
    return _head((first, first_bias), (last, last_bias))


def _head(*layers: tuple[NDArray[np.floating], NDArray[np.floating]]) -> TrainedHead:
    return TrainedHead(tuple((w.astype(np.float32), b.astype(np.float32)) for w, b in layers))


def calibrated(
    head: TrainedHead, features: NDArray[np.float32], rows: Sequence[Row]
) -> TrainedHead:
    """Return the head with the best temperature for these rows folded in."""
    temperature = calibration.best_temperature(head.logits(features), label_indices(rows))
    *before, (weights, bias) = head.layers
    return _head(*before, (weights / temperature, bias / temperature))


def report(name: str, head: TrainedHead, features: NDArray[np.float32], rows: Sequence[Row]) -> str:
    """Return one line per set: accuracy, precision and recall at the usual thresholds, ECE."""
    logits, labels = head.logits(features), label_indices(rows)
    scores = calibration.probabilities(logits)
    parts = [f"accuracy {np.mean(scores.argmax(axis=1) == labels):.3f}"]
    for index, threshold in ((0, 0.7), (2, 0.8)):
        fired, true = scores[:, index] >= threshold, labels == index
        hits = float((fired & true).sum())
        precision, recall = hits / max(fired.sum(), 1), hits / max(true.sum(), 1)
        parts.append(f"{CLASSES[index]}>={threshold} p {precision:.3f} r {recall:.3f}")
    error = calibration.expected_calibration_error(calibration.calibration_curve(logits, labels))
    return f"{name:26} n {len(rows):5}  {'  '.join(parts)}  ECE {error:.3f}"


def save(head: TrainedHead, path: Path) -> str:
    """Write the head and return the file's SHA-256."""
    (first, first_bias), (last, last_bias) = head.layers
    classes = np.array(CLASSES)
    np.savez(path, classes=classes, w0=first, b0=first_bias, w1=last, b1=last_bias)
    return file_sha256(path)


def record(sha256: str) -> None:
    """Put a new head's hash into the packaged manifest."""
    files = [f for entry in read_manifest() for f in entry.files if f.part == "head"]
    text = PACKAGED.read_text(encoding="utf-8").replace(files[0].sha256, sha256)
    PACKAGED.write_text(text, encoding="utf-8")


def _sampled(data: Path) -> list[Row]:
    rows = read_rows(data, "synth_user")
    random.Random(SEED + 4).shuffle(rows)  # noqa: S311 - a reproducible sample, not a secret
    return [replace(row, source="synth_user, phrased") for row in rows[:PHRASED]]


def train(source: FeatureSource, data: Path, cases: Path | None) -> tuple[TrainedHead, list[str]]:
    """Return the head and the lines of its report."""
    parts = [
        training_rows(data, SEED),
        phrased(transition_rows(FILLINGS, SEED), SEED),
        phrased(_sampled(data), SEED + 1),
    ]
    rows = [row for part in parts for row in part]
    features = np.concatenate([source.features(part) for part in parts])
    kept = np.array([row.is_validation for row in rows])
    validation = [row for row in rows if row.is_validation]
    head = fit(features[~kept], label_indices([row for row in rows if not row.is_validation]))
    head = calibrated(head, features[kept], validation)
    lines = []
    for name in dict.fromkeys(row.source for row in rows):
        chosen = np.array([row.source == name and row.is_validation for row in rows])
        unseen = [row for row in validation if row.source == name]
        lines.append(report(f"unseen rows of {name}"[:26], head, features[chosen], unseen))
    curve = calibration.calibration_curve(head.logits(features[kept]), label_indices(validation))
    lines.append(report("all unseen rows", head, features[kept], validation))
    lines += [f"  {b.confidence:.3f} → {b.accuracy:.3f} ({b.count})" for b in curve]
    sets = {name: read_rows(data, name) for name in HELD_OUT}
    if cases:
        sets["domain cases"] = case_rows(cases)
    for name, held_out in sets.items():
        lines.append(report(name, head, source.features(held_out), held_out))
    return head, lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, report and write the packaged head."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds nli/")
    parser.add_argument("--cases", type=Path, help="check.jsonl, scored and never trained on")
    parser.add_argument("--models-dir", type=Path, default=Path(".cache/models"))
    parser.add_argument("--out", type=Path, default=PACKAGED.parent / "nli_head.npz")
    options = parser.parse_args(arguments)
    head, lines = train(FeatureSource(options.models_dir), options.data, options.cases)
    digest = save(head, options.out)
    if options.out.parent == PACKAGED.parent:
        record(digest)
    sys.stdout.write("\n".join([*lines, f"{options.out} sha256 {digest}", ""]))


if __name__ == "__main__":
    main()

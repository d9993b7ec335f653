"""Train the NLI head: ``python -m service.modelkit.train_head --data ../shared/data``.

Logistic regression on standardised features of the packaged encoder; the scaling and a
temperature, fitted on premises the head has not seen, are folded into the weights. The held-out
sets and the cases are only ever scored. The same data and seed give the same file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.adapters.onnx.head import CLASSES
from service.adapters.onnx.manifest import PACKAGED, file_sha256, read_manifest
from service.modelkit import calibration
from service.modelkit.dataset import HELD_OUT, Row, case_rows, read_rows, training_rows
from service.modelkit.features import FeatureSource

STRENGTH = 0.01  # C of the logistic regression, chosen on the validation rows
SEED = 7


@dataclass(frozen=True, slots=True)
class TrainedHead:
    """Weights ``[3, features]`` and bias ``[3]`` in the order of ``CLASSES``."""

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return ``[rows, 3]``."""
        return features.astype(np.float64) @ self.weights.T.astype(np.float64) + self.bias


def label_indices(rows: Sequence[Row]) -> NDArray[np.int64]:
    """Return each row's class as its place in ``CLASSES``."""
    return np.array([CLASSES.index(row.label) for row in rows], dtype=np.int64)


def fit(features: NDArray[np.float32], labels: NDArray[np.int64]) -> TrainedHead:
    """Return an uncalibrated head; needs scikit-learn (extra ``train``)."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - an optional extra
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - comes with scikit-learn

    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    model = LogisticRegression(C=STRENGTH, max_iter=500, tol=1e-4)
    with threadpool_limits(1):  # sums in one order, whatever the machine's number of cores
        model.fit((features - mean) / spread, labels)
    weights = model.coef_ / spread
    bias = model.intercept_ - weights @ mean
    return TrainedHead(weights.astype(np.float32), bias.astype(np.float32))


def calibrated(
    head: TrainedHead, features: NDArray[np.float32], rows: Sequence[Row]
) -> TrainedHead:
    """Return the head with the best temperature for these rows folded in."""
    temperature = calibration.best_temperature(head.logits(features), label_indices(rows))
    return TrainedHead(
        (head.weights / temperature).astype(np.float32),
        (head.bias / temperature).astype(np.float32),
    )


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
    np.savez(path, classes=np.array(CLASSES), w0=head.weights, b0=head.bias)
    return file_sha256(path)


def record(sha256: str) -> None:
    """Put a new head's hash into the packaged manifest."""
    files = [f for entry in read_manifest() for f in entry.files if f.part == "head"]
    text = PACKAGED.read_text(encoding="utf-8").replace(files[0].sha256, sha256)
    PACKAGED.write_text(text, encoding="utf-8")


def train(source: FeatureSource, data: Path, cases: Path | None) -> tuple[TrainedHead, list[str]]:
    """Return the head and the lines of its report."""
    rows = training_rows(data, SEED)
    features = source.features(rows)
    kept = np.array([row.is_validation for row in rows])
    validation = [row for row in rows if row.is_validation]
    head = fit(features[~kept], label_indices([row for row in rows if not row.is_validation]))
    head = calibrated(head, features[kept], validation)
    lines = []
    for name in dict.fromkeys(row.source for row in rows):
        chosen = np.array([row.source == name and row.is_validation for row in rows])
        part = [row for row in validation if row.source == name]
        lines.append(report(f"unseen rows of {name}"[:26], head, features[chosen], part))
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

"""Rows for training and for evaluation of the NLI head, read from the local data folder."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path

TRAINING = {
    "mnli_dev_mm": 10_000,
    "snli_dev": 6_000,
    "cad_train": 5_000,
    "semiauto_base_wiki_train": 3_000,
    "synth_user": 6_000,
}
PREFIXED = 3_000  # further synth_user rows with the premise written as "User: …"
UNRELATED = 500  # of each kind: premises with a hypothesis from elsewhere, neutral
MOST_HYPOTHESIS = 400  # characters; the one or two longer ones do not fit the window
HELD_OUT = ("mnli_dev_m", "snli_test")
VALIDATION_SHARE = 8  # one premise in eight is kept for calibration
PREFIX = "User: "


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled pair."""

    premise: str
    hypothesis: str
    label: str
    source: str
    group: str = ""

    @property
    def is_validation(self) -> bool:
        """Return whether this row is kept for calibration; all rows of a premise fall together.

        ``group`` stands for the premise where it is set: what a premise was written from.
        """
        content = (self.group or self.premise.removeprefix(PREFIX)).encode()
        return int(hashlib.sha256(content).hexdigest(), 16) % VALIDATION_SHARE == 0


def read_rows(data: Path, name: str) -> list[Row]:
    """Return a set's rows, in file order.

    Raises:
        FileNotFoundError: the set is not in the folder; names the file.

    """
    path = data / "nli" / f"{name}.jsonl.gz"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; --data must point to the training data")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = map(json.loads, stream)
        found = (Row(r["premise"], r["hypothesis"], r["label"], name) for r in rows)
        return [row for row in found if len(row.hypothesis) <= MOST_HYPOTHESIS]


def training_rows(data: Path, seed: int) -> list[Row]:
    """Return the rows to train and to calibrate on, in an order that the seed fixes."""
    order = random.Random(seed)  # noqa: S311 - a reproducible sample, not a secret
    chosen: list[Row] = []
    for name, limit in TRAINING.items():
        rows = read_rows(data, name)
        order.shuffle(rows)
        chosen.extend(rows[:limit])
        if name == "synth_user":
            further = rows[limit : limit + PREFIXED]
            chosen.extend(
                Row(PREFIX + r.premise, r.hypothesis, r.label, "prefixed") for r in further
            )
    return chosen + _unrelated(data, order)


def _unrelated(data: Path, order: random.Random) -> list[Row]:
    """Return neutral pairs of texts that have nothing to do with each other.

    None within SNLI, whose convention is that an unrelated hypothesis contradicts.
    """
    prose, user = read_rows(data, "mnli_dev_mm"), read_rows(data, "synth_user")
    return [
        Row(order.choice(a).premise, order.choice(b).hypothesis, "neutral", "unrelated")
        for a, b in ((prose, prose), (prose, user), (user, prose))
        for _ in range(UNRELATED)
    ]


def case_rows(path: Path) -> list[Row]:
    """Return the labelled ``domain-*`` cases of a check file; for evaluation only."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        Row(c["request"]["source"], c["request"]["fact"], c["expect"]["label"], "domain")
        for c in cases
        if c["kind"].startswith("domain-") and "label" in c["expect"]
    ]

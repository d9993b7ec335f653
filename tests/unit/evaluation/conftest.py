import gzip
import json

import pytest

from service.domain.check import CheckOutcome, Scores
from service.domain.entailment import EntailmentScores
from service.domain.verdicts import ReasonCode, Verdict
from service.evaluation.sections import Bench


def outcome(verdict, evidence=None):
    code = {
        Verdict.STORE: ReasonCode.SUPPORTED,
        Verdict.REJECT: ReasonCode.CONTRADICTED,
        Verdict.REVIEW: ReasonCode.UNSUPPORTED,
    }[verdict]
    return CheckOutcome(verdict, code, "because", evidence, Scores(0, 0, 0, 0, 0))


def judge(asked):
    """Store a fact whose last word is in its source, reject one with "not", review the rest."""

    def verdict(one):
        if " not " in one.fact:
            return Verdict.REJECT
        last = one.fact.rstrip(".").split()[-1]
        return Verdict.STORE if last in one.source else Verdict.REVIEW

    return [outcome(verdict(one)) for one in asked]


def classify(pairs):
    return [EntailmentScores(0.8, 0.1, 0.1) for _ in pairs]


@pytest.fixture
def put(tmp_path):
    """Write gzipped JSON: rows as JSON lines, anything else as one value."""

    def write(name, content):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = content if name.endswith(".jsonl.gz") else [content]
        with gzip.open(path, "wt", encoding="utf-8") as text:
            text.writelines(json.dumps(row) + "\n" for row in rows)

    return write


@pytest.fixture
def bench(tmp_path):
    (tmp_path / "cases").mkdir()
    return Bench(judge, classify, tmp_path / "data", tmp_path / "cases")


@pytest.fixture
def talk():
    """A LoCoMo file with one conversation."""
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I keep bees."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "I fix bikes."},
        {"speaker": "Ann", "dia_id": "D1:3", "text": "Lovely weather."},
    ]
    observations = {
        "Ann": [["Ann keeps bees.", "D1:1"], ["Ann met Bob.", "D1:1"], ["Ann left.", "D1:2"]],
        "Bob": [["Bob fixes bikes.", ["D1:2"]], ["Bob is well.", "D1:2, D1:3"]],
    }
    return [
        {
            "sample_id": "talk",
            "conversation": {
                "speaker_a": "Ann",
                "speaker_b": "Bob",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": turns,
            },
            "observation": {"session_1_observation": observations},
            "qa": [{"question": "What does Ann keep?", "answer": "bees", "evidence": ["D1:1"]}],
        }
    ]

"""The extraction suite of the evaluation."""

import json

import pytest

from service.domain.check import CheckOutcome, Scores
from service.domain.verdicts import ReasonCode, Verdict
from service.evaluation.data import MissingDataError
from service.evaluation.extraction import extraction
from service.evaluation.sections import Bench


def store(asked):
    scores = Scores(0, 0, 0, 0, 0)
    return [
        CheckOutcome(Verdict.STORE, ReasonCode.SUPPORTED, "because", None, scores) for _ in asked
    ]


@pytest.fixture
def bench(tmp_path):
    return Bench(store, lambda pairs: [], None, tmp_path)


def row(number, half, content, facts, **given):
    messages = [{"role": "user", "content": content}]
    return {"id": number, "half": half, "kind": "k", "messages": messages, "facts": facts} | given


def test_each_half_has_its_figures(bench):
    home = {"subject": ["user"], "attribute": ["home"], "value": ["Leeds"]}
    rows = [
        row("a", "tuned", "I live in Leeds and I own a boat.", [home]),
        row("b", "untouched", "I live in Leeds.", [home]),
        row("c", "untouched", "ok thanks", [], skip="small_talk"),
    ]
    lines = "\n".join(map(json.dumps, rows))
    (bench.cases / "extraction.jsonl").write_text(lines, encoding="utf-8")
    found = extraction(bench)
    tuned, untouched = found.tables[0].rows
    assert tuned[3:5] == ("1 of 1 (100.0%)", "1 of 2 (50.0%)")
    assert untouched[3:5] == ("1 of 1 (100.0%)", "1 of 1 (100.0%)")
    assert untouched[6:] == ("1 of 1 (100.0%)", "100.0%")
    assert found.tables[1].rows[0][0] == "a"


def test_a_missing_set_is_named(bench):
    with pytest.raises(MissingDataError):
        extraction(bench)

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from rich.console import Console

from service.evaluation import __main__ as command
from service.evaluation import run
from service.evaluation.report import write

from .conftest import classify, judge


@pytest.fixture
def no_models(monkeypatch):
    gate = SimpleNamespace(
        judge=lambda asked: judge([one for one, _ in asked]), models=lambda: {"nli": "sha256:1"}
    )

    @contextmanager
    def models():
        yield gate, SimpleNamespace(classify=classify), None

    monkeypatch.setattr(run, "_models", models)


CASE = {
    "id": "one",
    "kind": "direct",
    "request": {"source": "I keep bees.", "fact": "The user keeps bees"},
    "expect": {"verdict_in": ["STORE"]},
}


def test_missing_sets_are_named_and_no_failure(no_models, tmp_path, capsys):
    (tmp_path / "some.jsonl").write_text(json.dumps(CASE), encoding="utf-8")
    out = tmp_path / "reports"
    given = ["--cases", str(tmp_path), "--data", str(tmp_path / "none"), "--out", str(out)]
    assert command.run(given) == 0
    text = (out / "evaluation.md").read_text(encoding="utf-8")
    assert text.count("Skipped, because it is missing") == 17
    assert "there is no folder none" in text
    assert "| cases: all | 1 | 100.0% |" in text
    assert "Skipped, because it is missing" in capsys.readouterr().out


def test_a_suite_without_data_is_skipped_with_a_word(bench):
    found = run.score(Console(quiet=True), "Case files", run.case_files, bench)
    assert found.notes == ["Skipped, because it is missing: case files (no *.jsonl in cases)."]


def test_a_report_goes_into_a_file_or_a_folder(tmp_path):
    assert write(tmp_path / "a.md", "x") == tmp_path / "a.md"
    assert write(tmp_path / "b", "x") == tmp_path / "b" / "evaluation.md"
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("# Evaluation\n")

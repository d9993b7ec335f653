"""The commands as an operator runs them, on an installation at rest."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(installed, tmp_path):
    settings = installed.settings
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GROUNDKEEPER_", "PYTEST_"))}
    environment = {
        **kept,
        "PYTHONPATH": str(ROOT),
        "GROUNDKEEPER_DATA_DIR": str(settings.data_dir),
        "GROUNDKEEPER_KEY_DIR": str(settings.key_dir),
    }

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "service", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_export_and_verify_what_was_exported(run, installed, tmp_path):
    made = run("export", "--out", "log", "--bodies")
    assert made.returncode == 0, made.stderr
    assert "VERIFY.md" in made.stdout
    good = run("verify", "--export", "log", "--key", installed.key)
    assert good.returncode == 0, good.stdout + good.stderr
    path = tmp_path / "log" / "entries.ndjson"
    path.write_bytes(path.read_bytes().replace(b"check.decided", b"turn.recorded", 1))
    bad = run("verify", "--export", "log", "--key", installed.key)
    assert bad.returncode == 1, bad.stdout
    again = run("export", "--out", "log")
    assert again.returncode == 2
    assert "not an empty folder" in again.stderr


def test_csv_and_reports(run, tmp_path):
    made = run("export", "--out", "log.csv", "--format", "csv", "--tenant", "acme")
    assert made.returncode == 0, made.stderr
    text = (tmp_path / "log.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {r["actor"].partition(":")[0] for r in rows} == {"acme"}
    facts = {r["fact"] for r in rows}
    assert "'=HYPERLINK(1) The user has 3 | pipes." in facts
    report = run("report", "--out", "report.html", "--tenant", "acme")
    assert report.returncode == 0, report.stderr
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    wrong = run("report", "--out", "later.md", "--format", "md", "--since", "yesterday")
    assert wrong.returncode == 3
    assert not (tmp_path / "later.md").exists()

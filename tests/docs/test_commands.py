"""Commands and targets that the documents name exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from service.cli.app import app

ROOT = Path(__file__).parents[2]
DOCUMENTS = [p for p in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if p.exists()]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_named_make_targets_exist(path):
    text = path.read_text(encoding="utf-8")
    used = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.MULTILINE))
    assert used <= TARGETS


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_named_commands_exist(path):
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    text = path.read_text(encoding="utf-8")
    used = set(re.findall(r"(?:^ {4}|`)(?:\S+ )*?groundkeeper ([a-z][a-z-]*)", text, re.MULTILINE))
    assert used <= known


def test_every_target_has_a_line_of_help():
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for target in TARGETS:
        assert re.search(rf"^{target}\s+\S", listed, re.MULTILINE), target

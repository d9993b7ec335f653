"""What git would leave out of a clone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("folder", ["service", "migrations", "tests", "docs", "loadtests"])
def test_nothing_that_the_service_needs_is_ignored(folder):
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    files = [
        str(p.relative_to(ROOT))
        for p in (ROOT / folder).rglob("*")
        if p.is_file() and not {"__pycache__", ".hypothesis"} & set(p.parts)
    ]
    asked = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=ROOT,
        input="\n".join(files),
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.stdout.split() == []

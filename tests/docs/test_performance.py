"""docs/performance.md holds what the results say, and the results name no machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "loadtests" / "results"
KEPT = sorted(RESULTS.glob("*.json")) + sorted(RESULTS.glob("*.md"))


def test_the_measured_part_is_that_of_the_results():
    script = ROOT / "loadtests" / "document.py"
    done = subprocess.run([sys.executable, script, "--check"], check=False, timeout=60)
    assert done.returncode == 0, "make performance writes it"


@pytest.mark.parametrize("path", KEPT, ids=lambda p: p.name)
def test_results_name_no_folder_of_a_machine(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:home|root|tmp|work|Users|var)/", text)
    assert str(ROOT) not in text

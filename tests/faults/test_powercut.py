"""A power cut that loses everything that was not flushed: what was answered is there.

The worst case that a disk which keeps its word allows: of every file only the content of its last
flush is left, see ``powercut.c``.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.faults.books import audit
from tests.faults.conftest import Life, Nursery
from tests.faults.deeds import Answer, open_log
from tests.faults.marks import LONG
from tests.faults.patients import COMPILER, compile_shim
from tests.faults.test_sigkill import answers, kill_somewhen

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs Linux and a C compiler"
)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Where the files are, and what would be left of them."""
    for name in ("now", "kept"):
        for folder in ("data", "keys"):
            (tmp_path / name / folder).mkdir(parents=True)
    return tmp_path / "now", tmp_path / "kept"


@pytest.fixture
def nursery(tmp_path, folders):
    environment = {
        "LD_PRELOAD": str(compile_shim(tmp_path, "powercut")),
        "POWERCUT_ROOT": str(folders[0]),
        "POWERCUT_KEPT": str(folders[1]),
    }
    made = Nursery("writers.py", environment=environment)
    yield made
    made.close()


def replace(folder: Path, other: Path) -> None:
    """Give a folder the content of another."""
    shutil.rmtree(folder)
    shutil.copytree(other, folder)


@pytest.mark.parametrize("lives", [6, pytest.param(200, marks=LONG)])
def test_what_was_answered_was_flushed(nursery, folders, tmp_path, lives):
    now, kept = folders
    path = now / "data" / "groundkeeper.db"
    acknowledged: dict[str, Answer] = {}
    for life in range(lives):
        file = tmp_path / f"answers-{life}"
        kill_somewhen(Life(nursery, path, file), file)
        acknowledged |= answers(file)
        for draft in kept.rglob("*.draft"):
            draft.unlink()
        replace(now, kept)
        open_log(path).close()
        audit(path, acknowledged)
        replace(kept, now)  # what this process has written is not kept by itself
    assert len(acknowledged) > lives

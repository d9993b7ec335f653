"""Faults: databases that suffer, and processes that are killed.

Tests marked ``faults_long`` are the long forms; they only run when the mark is asked for, as
``make faults`` does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHILDREN = Path(__file__).parent / "children"
LONG = "faults_long"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out unless somebody asks for them."""
    if LONG in (config.getoption("markexpr") or ""):
        return
    kept = [item for item in items if item.get_closest_marker(LONG) is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is, in a data directory of its own."""
    return tmp_path / "data" / "groundkeeper.db"


class Life:
    """One forked process; ``given`` is what its program is told."""

    def __init__(self, nursery: Nursery, *given: object) -> None:
        self._nursery = nursery
        self._pid = int(nursery.ask("\t".join(map(str, given))))

    def end(self) -> int:
        """Wait for its end and return its wait status."""
        return int(self._nursery.hear())

    def kill(self) -> None:
        """End it with SIGKILL, and wait until it is gone."""
        os.kill(self._pid, signal.SIGKILL)
        status = self.end()
        assert os.WIFSIGNALED(status), f"it had ended by itself with {status}"
        assert os.WTERMSIG(status) == signal.SIGKILL


class Nursery:
    """A process that has imported what a program needs, and forks."""

    def __init__(
        self, program: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, CHILDREN / program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ
            | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
            | dict(environment or {}),
        )

    def ask(self, line: str) -> str:
        """Send a line and return the next one."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.hear()

    def hear(self) -> str:
        """Return the next line; an empty one means that the process is gone."""
        line = self._process.stdout.readline()
        assert line, "the process that forks is gone"
        return line

    def close(self) -> None:
        """End the process; no child is alive by now."""
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

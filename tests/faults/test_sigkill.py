"""SIGKILL at any moment: nothing that was acknowledged is lost, nothing is half written."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from tests.faults.books import audit
from tests.faults.conftest import Life, Nursery
from tests.faults.deeds import Answer, open_log, remember

ROUNDS, LIVES = 5, 10
MOST_ANSWERS = 12


def answers(file: Path) -> dict[str, Answer]:
    """Return what was acknowledged; the last line may be cut."""
    if not file.exists():
        return {}
    lines = file.read_bytes().split(b"\n")[:-1]
    found = [json.loads(line) for line in lines]
    return {one.pop("key"): Answer(**one) for one in found}


def kill_somewhen(life: Life, file: Path) -> None:
    """Kill it while it opens the database, or after some answers and a moment more."""
    if random.random() < 0.2:
        time.sleep(random.uniform(0, 0.01))
    else:
        wanted = random.randint(1, MOST_ANSWERS)
        while not file.exists() or file.read_bytes().count(b"\n") < wanted:
            time.sleep(0.0005)
        time.sleep(random.uniform(0, 0.004))
    life.kill()


@pytest.fixture(scope="module")
def nursery():
    made = Nursery("writers.py")
    yield made
    made.close()


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_killed_process_loses_nothing_that_it_acknowledged(path, nursery, tmp_path, number):
    acknowledged: dict[str, Answer] = {}
    for life in range(LIVES):
        file = tmp_path / f"answers-{life}"
        kill_somewhen(Life(nursery, path, file), file)
        acknowledged |= answers(file)
        if path.exists() and path.stat().st_size:
            go_on(path, acknowledged)
    assert len(acknowledged) > LIVES
    assert audit(path, acknowledged).total > 2 * len(acknowledged)


def go_on(path: Path, acknowledged: dict[str, Answer]) -> None:
    """Open what was left behind: every book balances; a retry and a new write work."""
    database = open_log(path)
    try:
        before = audit(path, acknowledged).total
        if acknowledged:
            key = random.choice(list(acknowledged))
            assert remember(database, key) == acknowledged[key]
        key = f"after {len(acknowledged)}"
        acknowledged[key] = remember(database, key)
        assert acknowledged[key].seq == before + 1
    finally:
        database.close()

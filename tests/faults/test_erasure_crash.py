"""A process that dies during an erasure: nothing of it happened, or the next start finishes it."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from service.domain.erasure import ErasureStatus
from tests.faults.books import verify
from tests.faults.conftest import Life, Nursery
from tests.faults.deeds import SCOPE, open_log, remember
from tests.faults.erasures import ANOTHER, GONE, OF_ANOTHER, USER, found, plan, services_on
from tests.faults.marks import LONG
from tests.faults.patients import COMPILER, Switch, compile_shim

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs Linux and a C compiler"
)


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shim")
    switch = Switch(compile_shim(folder), folder, "/now/")
    made = Nursery("erasing.py", environment=switch.environment)
    yield made
    made.close()


@pytest.fixture
def before(tmp_path) -> Path:
    """Folders of a database with a memory of the user, and one of somebody else."""
    path = tmp_path / "before" / "data" / "groundkeeper.db"
    database = open_log(path)
    for number in range(3):
        remember(database, f"{number}", GONE, user=USER)
    remember(database, "other", OF_ANOTHER, user=ANOTHER)
    database.close()
    return path


def finish(path: Path) -> str:
    """Start again after the death; return how far the erasure had come."""
    database = open_log(path)
    services = services_on(database, path)
    state = "finished"
    if database.read(SCOPE, lambda tx: tx.subjects.find(USER)) is not None:
        state = "nothing happened"
        record = services.confirm.run(SCOPE, plan(services), allow_collateral=True)
        assert record.status is ErasureStatus.ERASED, record
    elif database.read(SCOPE, lambda tx: tx.erasure.records.unfinished()):
        state = "had to be finished"
    assert services.finisher.resume() == 0
    database.close()
    return state


@pytest.mark.parametrize("step", [19, pytest.param(1, marks=LONG)])
def test_dying_at_any_write_of_an_erasure(nursery, before, tmp_path, step):
    now = tmp_path / "now"
    path = now / "data" / before.name
    states: Counter[str] = Counter()
    write = 0
    while True:
        shutil.copytree(before.parent.parent, now)
        status = Life(nursery, path, write).end()
        states[finish(path)] += 1
        assert found(now, GONE) == []
        assert found(now, OF_ANOTHER) != []
        assert verify(path).ok
        shutil.rmtree(now)
        if status == 0:
            break
        write += step
    assert {"nothing happened", "had to be finished", "finished"} == set(states)

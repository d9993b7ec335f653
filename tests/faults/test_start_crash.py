"""A process that dies at its very first start: whatever it left, the next start makes good."""

from __future__ import annotations

import shutil
import sys
from collections import Counter

import pytest

from service import bootstrap
from tests.faults.books import verify
from tests.faults.conftest import Life, Nursery
from tests.faults.marks import LONG
from tests.faults.patients import COMPILER, Switch, compile_shim
from tests.faults.starts import bare_parts, settings_in

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs Linux and a C compiler"
)


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shim")
    switch = Switch(compile_shim(folder), folder, "/now/")
    made = Nursery("starting.py", environment=switch.environment)
    yield made
    made.close()


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=LONG)])
def test_dying_at_any_write_of_the_first_start(nursery, tmp_path, step):
    folder = tmp_path / "now"
    settings = settings_in(folder)
    left: Counter[bool] = Counter()
    write = 0
    while True:
        folder.mkdir()
        status = Life(nursery, folder, write).end()
        left[(settings.checkpoints_dir / "latest.txt").exists()] += 1
        for _ in range(2):
            container = bootstrap.build(settings, bare_parts())
            checkpoints = container.services.checkpoints
            assert checkpoints.refused is None
            assert checkpoints.sign() is None, "everything was signed at the start"
            size = container.services.audit.size()
            container.close()
        assert size >= 1
        assert verify(settings.data_dir / bootstrap.DATABASE_NAME).ok
        shutil.rmtree(folder)
        if status == 0:
            break
        write += step
    assert set(left) == {True, False}

"""A process that dies while it creates or migrates a database leaves one that the next can use."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from service.adapters.db.migrate import head_revision
from tests.faults.books import audit
from tests.faults.conftest import Life, Nursery
from tests.faults.deeds import Answer, open_log, remember
from tests.faults.marks import LONG
from tests.faults.old import make_old

STEP = 23
OLD = ("0002", "0004")


@pytest.fixture(scope="module")
def nursery():
    made = Nursery("migrating.py")
    yield made
    made.close()


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> tuple[Path, dict[str, Answer]]:
    """A database of today, and what was acknowledged."""
    path = tmp_path_factory.mktemp("today") / "data" / "today.db"
    database = open_log(path, encrypted=False)
    told = {f"{n}": remember(database, f"{n}") for n in range(4)}
    database.close()
    return path, told


def die_everywhere(nursery: Nursery, path: Path, step: int, make, check) -> None:
    """Die at every ``step``-th statement of an opening, each time on a copy of the same files."""
    statement = status = 0
    deaths = 0
    while True:
        shutil.rmtree(path.parent, ignore_errors=True)
        make()
        status = Life(nursery, path, statement).end()
        check()
        if status == 0:
            break
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == signal.SIGKILL
        deaths += 1
        statement += step
    assert deaths > 40 // step


def open_and_write(path: Path, told: dict[str, Answer]) -> None:
    database = open_log(path)
    assert database.health().revision == head_revision()
    told = told | {"new": remember(database, "new")}
    database.close()
    audit(path, told)


def steps() -> list:
    return [STEP, pytest.param(1, marks=LONG)]


@pytest.mark.parametrize("step", steps())
def test_dying_while_a_new_database_is_made(nursery, path, step):
    die_everywhere(nursery, path, step, lambda: None, lambda: open_and_write(path, {}))


@pytest.mark.parametrize("revision", [pytest.param(OLD[0], marks=LONG), OLD[1]])
@pytest.mark.parametrize("step", steps())
def test_dying_while_an_old_database_is_migrated(nursery, path, content, step, revision):
    today, told = content
    old = path.parent.with_name("old") / path.name
    make_old(old, revision, today)

    def make() -> None:
        path.parent.mkdir()
        shutil.copyfile(old, path)

    die_everywhere(nursery, path, step, make, lambda: open_and_write(path, told))

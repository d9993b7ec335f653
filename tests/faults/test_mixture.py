"""An old copy of the database file under the WAL of a newer one: refused, or whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from service.domain.errors import Damaged
from tests.faults.books import verify
from tests.faults.deeds import open_log, remember
from tests.faults.filebits import dump


def make_mixture(path: Path, between: int, after: int) -> str:
    """Put a copy from before ``between + after`` writes under the WAL of the last ``after``.

    Returns the dump of what the two would be had they been left together.
    """
    crashed = path.parent.with_name("crashed")
    for number, count in enumerate((1, between, after)):
        database = open_log(path)
        for write in range(count):
            remember(database, f"{number}-{write}")
        if number == 2:
            shutil.copytree(path.parent, crashed)  # as a crash leaves it
        database.close()
        if number == 0:
            old = path.read_bytes()
    whole = dump(path)
    shutil.rmtree(path.parent)
    crashed.rename(path.parent)
    path.write_bytes(old)
    path.with_name(f"{path.name}-shm").unlink()
    return whole


def files(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in path.parent.iterdir() if p.suffix in (".db", ".db-wal")}


@pytest.mark.parametrize(("between", "after"), [(30, 5), (60, 1), (0, 5)])
def test_an_old_file_under_a_newer_wal(path, between, after):
    whole = make_mixture(path, between, after)
    before = files(path)
    intact = verify(path).ok
    assert files(path) == before
    try:
        database = open_log(path)
    except Damaged as error:
        assert "all of its files together" in error.detail
        assert not intact
        assert files(path) == before, "the evidence is as it was"
    else:
        assert intact
        database.close()
        assert dump(path) == whole


def test_it_is_refused_where_the_two_do_not_fit(path):
    make_mixture(path, 60, 1)
    with pytest.raises(Damaged):
        open_log(path)


def test_after_any_number_of_writes_what_was_left_open_is_whole(path):
    database = open_log(path)
    crashed = path.parent.with_name("crashed")
    for number in range(12):
        remember(database, f"{number}")
        shutil.rmtree(crashed, ignore_errors=True)
        shutil.copytree(path.parent, crashed)
        again = open_log(crashed / path.name)
        assert dump(crashed / path.name) == dump(path)
        again.close()
    database.close()

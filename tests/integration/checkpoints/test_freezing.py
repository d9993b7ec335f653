"""A frozen database answers reads, and refuses every write, also those that were waiting."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.adapters.db.database import open_database
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import ReadOnly
from service.ports.storage import EntryDraft, Scope

SCOPE = Scope("default", "key_1")
DRAFT = EntryDraft(kind="evaluation.recorded", actor=SCOPE.actor)


def append(tx):
    return tx.audit.append(DRAFT, {}).seq


@pytest.fixture
def database(tmp_path: Path):
    opened = open_database(
        tmp_path / "data.db", clock=SystemClock(), identifiers=RandomIdentifiers()
    )
    yield opened
    opened.close()


def test_writes_fail_with_the_reason_and_reading_goes_on(database):
    assert database.write(SCOPE, append) == 1
    database.freeze("somebody has to look")
    database.freeze("another reason")
    with pytest.raises(ReadOnly, match="somebody has to look"):
        database.write(SCOPE, append)
    assert database.read(SCOPE, lambda tx: tx.audit.head().size) == 2
    assert database.health().at_head


def test_what_was_waiting_is_refused_too(database):
    inside, go_on = threading.Event(), threading.Event()

    def hold(tx):
        inside.set()
        assert go_on.wait(10)
        return append(tx)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(database.write, SCOPE, hold)
        assert inside.wait(10)
        second = pool.submit(database.write, SCOPE, append)
        while not database._writer._queue.qsize():
            threading.Event().wait(0.001)
        database.freeze("somebody has to look")
        go_on.set()
        assert first.result() == 1
        with pytest.raises(ReadOnly):
            second.result()
    assert database.read(SCOPE, lambda tx: tx.audit.head().size) == 2

"""A page of a table that points to itself must end a verification, not keep it busy for ever."""

from __future__ import annotations

import struct

import pytest

from service.adapters.db.database import open_database
from service.adapters.db.engine import choose_driver
from service.adapters.system import RandomIdentifiers, SystemClock
from service.adapters.verifying import Known, verify_database
from service.audit.entry import EntryDraft
from service.ports.storage import Scope

SCOPE = Scope("acme", "key_1")
INTERIOR = 0x05
ENTRIES = 400


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "data" / "groundkeeper.db"
    database = open_database(path, clock=SystemClock(), identifiers=RandomIdentifiers())
    draft = EntryDraft(kind="policy.changed", actor=SCOPE.actor)

    def work(tx):
        for _ in range(ENTRIES):
            tx.audit.append(draft, {})

    database.write(SCOPE, work)
    database.close()
    return path


def root_page(path, table: str) -> int:
    connection = choose_driver().module.connect(path)
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
    ).fetchone()
    connection.close()
    return page


@pytest.mark.parametrize("child", [0, 1, 5, -1])
def test_a_page_that_points_to_itself_ends_the_verification(file, tmp_path, child):
    data = bytearray(file.read_bytes())
    size = struct.unpack(">H", data[16:18])[0]
    page = root_page(file, "entry")
    start = (page - 1) * size
    assert data[start] == INTERIOR, "the table has to have several pages"
    (cells,) = struct.unpack(">H", data[start + 3 : start + 5])
    if child < 0:
        place = start + 8  # the right-most child
    else:
        (offset,) = struct.unpack(">H", data[start + 12 + 2 * (child % cells) :][:2])
        place = start + offset
    data[place : place + 4] = struct.pack(">I", page)
    copy = tmp_path / "copy.db"
    copy.write_bytes(data)
    report = verify_database(copy, Known())
    assert not report.ok

"""A text that is no UTF-8 comes back as it is, from the fast statements as well."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from service.adapters.db.prepared import Prepared
from service.ports.storage import SYSTEM


@pytest.mark.parametrize("damaged", [b"caf\xe9", b"\xff", b"a\xed\xa0\x80"])
def test_a_damaged_text_is_read_and_the_next_statement_too(open_it, damaged):
    database = open_it()
    statement = Prepared(text("SELECT CAST(:given AS TEXT) AS found"), "given")

    def work(tx):
        connection = tx.audit._session.connection
        found = [statement.tuples(connection, {"given": g}) for g in (damaged, b"caf\xc3\xa9")]
        slow = connection.exec_driver_sql("SELECT CAST(? AS TEXT)", (damaged,)).scalar_one()
        return found, slow

    (found, whole), slow = database.read(SYSTEM, work)
    assert found == [(slow,)] == [(damaged.decode("utf-8", "surrogateescape"),)]
    assert whole == [("café",)]

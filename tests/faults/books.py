"""What must be true of a database after any fault, asked in SQL beside our own verifier."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import Connection

from service.adapters.db.engine import choose_driver, reader_engine
from service.adapters.verifying import Known, verify_database
from service.audit.verify import Report
from tests.faults.deeds import Answer, key_folder

DECIDED = "SELECT id, seq FROM decision ORDER BY id"
LOGGED = "SELECT decision_id, seq FROM entry WHERE kind LIKE '%.decided' ORDER BY decision_id"
EVENTS = "SELECT seq FROM memory_event ORDER BY seq"
CHANGES = "SELECT seq FROM entry WHERE kind LIKE 'memory.%' ORDER BY seq"
ANSWERS = "SELECT key, body FROM idempotency"


def audit(path: Path, acknowledged: dict[str, Answer] | None = None) -> Report:
    """Check every book of a database that may be open here; return the verifier's report."""
    engine = reader_engine(path, choose_driver(), busy_timeout=5, connections=1)
    try:
        with engine.connect() as connection, connection.begin():
            _contiguous(connection)
            _nothing_half_written(connection)
            _all_there(connection, acknowledged or {})
    finally:
        engine.dispose()
    report = verify(path)
    assert report.ok, report
    return report


def verify(path: Path) -> Report:
    """Verify as the command line does; raises ``Unavailable`` where that cannot decide."""
    return verify_database(path, Known(text_keys=key_folder(path)))


def _contiguous(connection: Connection) -> None:
    count, first, last = connection.exec_driver_sql(
        "SELECT count(*), min(seq), max(seq) FROM entry"
    ).one()
    size = connection.exec_driver_sql("SELECT size FROM head").scalar_one()
    assert (first, last, count) == (0, size - 1, size)


def _nothing_half_written(connection: Connection) -> None:
    def rows(statement: str) -> list[tuple]:
        return _rows(connection, statement)

    assert rows(DECIDED) == rows(LOGGED)
    assert rows(EVENTS) == rows(CHANGES)
    states = dict(rows("SELECT id, state_hash FROM memory"))
    entries = [json.loads(e) for (e,) in rows("SELECT entry FROM entry ORDER BY seq")]
    changes = [e for e in entries if e["kind"].startswith("memory.")]
    assert states == {e["memory"][0]: e["state"]["after"] for e in changes}
    bodies = {(seq, name) for seq, name in rows("SELECT seq, name FROM body")}
    assert bodies == {(e["seq"], name) for e in entries if e["subject"] for name in e["commit"]}
    answered = [json.loads(body)["decision_id"] for _, body in rows(ANSWERS)]
    assert sorted(answered) == [row[0] for row in rows(DECIDED)]


def _all_there(connection: Connection, acknowledged: dict[str, Answer]) -> None:
    leaves = dict(_rows(connection, "SELECT seq, leaf FROM entry"))
    answers = dict(_rows(connection, ANSWERS))
    memories = set(connection.exec_driver_sql("SELECT id FROM memory").scalars())
    for key, told in acknowledged.items():
        assert leaves.get(told.seq) == told.leaf, (key, told)
        assert Answer(**json.loads(answers[key])) == told
        assert told.memory_id is None or told.memory_id in memories


def _rows(connection: Connection, statement: str) -> list[tuple]:
    return [tuple(row) for row in connection.exec_driver_sql(statement)]

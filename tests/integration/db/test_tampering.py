"""Verification of a real file that somebody changed behind our back."""

import sqlite3
from contextlib import closing

import pytest

from migrations.triggers import AUDIT_TRIGGERS
from service.domain.errors import Unavailable


@pytest.fixture
def closed(open_it, append):
    database = open_it()
    for number in range(6):
        append(database, f"fact {number}")
    database.close()


def test_an_untouched_file_verifies_after_a_restart(closed, open_it, check):  # aud-008
    report = check(open_it())
    assert report.ok
    assert report.total == report.verified == 7
    assert [level.ok for level in report.levels] == [True, True, True, None, True, True]


@pytest.fixture
def verify_after(closed, tamper, open_it, check):
    def verify_after(statement):
        tamper("PRAGMA foreign_keys = OFF", statement)
        return check(open_it())

    return verify_after


EDIT = "UPDATE entry SET entry = CAST(replace(entry, 'key_1', 'key_2') AS BLOB) WHERE seq = 3"


@pytest.mark.parametrize(
    ("statement", "broken", "compromised", "missing"),
    [
        (EDIT, (3,), (4, 5, 6), ()),
        ("DELETE FROM entry WHERE seq = 3", (), (4, 5, 6), (3,)),
        ("UPDATE entry SET seq = -1 WHERE seq = 3", (-1,), (4, 5, 6), (-1, 3)),
        ("UPDATE entry SET leaf = '' WHERE seq = 3", (3,), (4, 5, 6), ()),
        ("UPDATE entry SET kind = 'policy.changed' WHERE seq = 3", (3,), (4, 5, 6), ()),
        ("UPDATE entry SET kind = CAST(x'ff' AS TEXT) WHERE seq = 3", (3,), (4, 5, 6), ()),
        ("UPDATE body SET text = CAST('no' AS BLOB) WHERE seq = 3", (3,), (), ()),
        ("UPDATE body SET text = x'ff' WHERE seq = 3", (3,), (), ()),
        ("DELETE FROM body WHERE seq = 3", (), (), (3,)),
        ("UPDATE head SET size = 9", (), (), (7, 8)),
    ],
)
def test_changes_are_found(verify_after, statement, broken, compromised, missing):
    report = verify_after(statement)
    assert not report.ok
    assert (report.broken_at, report.compromised, report.missing) == (broken, compromised, missing)


def test_dropped_triggers_are_found(closed, tamper, open_it, check):
    tamper(restore=False)
    report = check(open_it())
    assert (report.ok, report.reason) == (False, "file_damaged")
    assert report.levels[0].problems == tuple(f"trigger {n} is missing" for n in AUDIT_TRIGGERS)


def test_a_strange_trigger_is_found(closed, tamper, open_it, check):
    tamper("CREATE TRIGGER mine AFTER INSERT ON entry BEGIN SELECT 1; END")
    report = check(open_it())
    assert report.levels[0].problems == ("trigger mine is not ours",)


def test_a_log_without_its_head_is_not_started_over(closed, tamper, open_it):
    tamper("DELETE FROM head")
    with pytest.raises(Unavailable, match="one head"):
        open_it()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET kind = 'x'",
        "DELETE FROM entry",
        "INSERT INTO entry SELECT seq + 1, tenant, ts, kind, NULL, NULL, NULL, leaf, entry"
        " FROM entry WHERE seq = 6",
        "INSERT INTO entry SELECT seq + 2, tenant, ts, kind, NULL, NULL, NULL, leaf, entry"
        " FROM entry WHERE seq = 6",
        "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE seq = 3",
        "UPDATE head SET size = size + 1",
        "UPDATE head SET size = size - 1",
        "UPDATE head SET origin = 'x'",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head SELECT * FROM head",
        "UPDATE body SET text = x'00'",
        "UPDATE node SET hash = zeroblob(32)",
        "DELETE FROM node",
        "INSERT INTO node VALUES (1, 3, zeroblob(32))",
        "INSERT OR REPLACE INTO node SELECT * FROM node WHERE level = 1",
        "INSERT INTO body (seq, name, salt, text) VALUES (3, 'result', x'00', x'00')",
    ],
)
def test_triggers_stop_accidents(closed, path, statement):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if "seq + 1" in statement:
            connection.execute("BEGIN")
            connection.execute(statement)  # the next number is taken, but the head does not follow
            statement = "UPDATE head SET size = size + 1, leaf = 'x'"
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)


def test_a_torn_file_is_not_called_intact(closed, path, open_it, check):
    data = bytearray(path.read_bytes())
    for page in range(2 * 4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(Unavailable):
        check(open_it())

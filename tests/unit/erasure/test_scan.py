"""Finding bytes in the unused space of a database, and only there."""

import os
import random
import sys
from pathlib import Path

import pytest

from service.adapters.db.engine import choose_driver
from service.adapters.residue import scan
from service.adapters.residue.search import FileResidue, Folders, spellings
from service.domain.errors import Unavailable
from service.ports.erasure import Wanted

connect = choose_driver().module.connect


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "data" / "a.db"
    path.parent.mkdir()
    connection = connect(str(path), isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=OFF"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT, blob BLOB) STRICT")
    connection.execute("CREATE INDEX i ON t (text)")
    yield path, connection
    connection.close()


def fill(connection, words, *, rounds=30, seed=1):
    chance, live = random.Random(seed), []  # noqa: S311
    for _ in range(rounds):
        connection.execute("BEGIN")
        for _ in range(60):
            text = f"{chance.choice(words)} {chance.random()} " + "x" * chance.randrange(400)
            blob = os.urandom(chance.choice([0, 50, 1500, 9000]))
            row = connection.execute("INSERT INTO t (text, blob) VALUES (?, ?)", (text, blob))
            live.append(row.lastrowid)
        chance.shuffle(live)
        for _ in range(chance.choice([0, 30, 55])):
            connection.execute("DELETE FROM t WHERE id = ?", (live.pop(),))
        connection.execute("COMMIT")


def unused(path) -> bytes:
    return b"|".join(scan.unused_of_database(path))


def truncate(connection):
    assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_what_was_deleted_without_overwriting_is_found(database):
    path, connection = database
    connection.execute("PRAGMA secure_delete=OFF")
    fill(connection, ["alpha-one"])
    connection.execute("DELETE FROM t")
    truncate(connection)
    assert unused(path).count(b"alpha-one") > 100
    connection.execute("VACUUM")
    truncate(connection)
    assert b"alpha-one" not in unused(path)


def test_what_rows_hold_is_not_found(database):
    """Every byte of the file is either a part of a row or unused, and never both."""
    path, connection = database
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("DROP INDEX i")
    for n in range(3_000):
        connection.execute("INSERT INTO t (text) VALUES (?)", (f"live-{n:05} " + "y" * (n % 90),))
    truncate(connection)
    assert path.read_bytes().count(b"live-") == 3_000
    assert b"live-" not in unused(path)


def test_split_pages_keep_copies_although_deleted_bytes_are_overwritten(database):
    """Why there is a search at all: SQLite's own overwriting leaves some behind."""
    path, connection = database
    connection.execute("PRAGMA secure_delete=ON")
    fill(connection, ["bravo-two"], rounds=60)
    connection.execute("DELETE FROM t WHERE id % 2")
    truncate(connection)
    assert b"bravo-two" in unused(path)
    connection.execute("DELETE FROM t")
    connection.execute("VACUUM")
    truncate(connection)
    assert b"bravo-two" not in unused(path)


def test_the_log_beside_it_is_searched_too(database):
    path, connection = database
    connection.execute("PRAGMA secure_delete=OFF")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("INSERT INTO t (text) VALUES ('charlie-three')")
    connection.execute("DELETE FROM t")
    log = path.with_name("a.db-wal")
    assert b"charlie-three" in b"|".join(scan.unused_of_log(log))
    truncate(connection)
    assert list(scan.unused_of_log(log)) == []


DAMAGED = (b"", b"SQLite format 3\0", b"\xff" * 5_000, b"SQLite format 3\0" + b"\xff" * 9_000)


@pytest.mark.parametrize("content", DAMAGED)
def test_what_is_no_database_is_an_error(tmp_path, content):
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises((ValueError, OSError)):
        list(scan.unused_of_database(path))


def test_many_needles_and_parts_of_one():
    hay = [b"......the quick brown fox jumps", b"lazy dogs sleep all day long at home"]
    needles = [(n, f"needle number {n:06}".encode()) for n in range(1_000)]
    assert scan.in_unused(hay, needles) == set()
    assert scan.in_unused(hay, [*needles, (7_000, b"quick brown fox")]) == {7_000}
    assert scan.in_unused(hay, [(1, b"A cat saw: the quick brown fox jumps")]) == {1}
    assert scan.in_unused(hay, [(1, b"A cat saw the quick brown fox jumped")]) == set()


@pytest.fixture
def residue(database, tmp_path):
    data, keys = tmp_path / "data", tmp_path / "keys"
    keys.mkdir()
    (data / "index").mkdir()
    (data / "models").mkdir()
    return FileResidue(Folders(database[0], data, data / "index", keys, (data / "models",)))


def test_every_kind_of_file(residue, database, tmp_path):
    wanted = Wanted(("Ünïque ‘text’\nhere",), ("mem_" + "a" * 26,))
    assert residue.search(wanted).elsewhere == ()
    data, keys = tmp_path / "data", tmp_path / "keys"
    (data / "notes.json").write_bytes(spellings(wanted.texts[0])[2])
    (data / "models" / "m.onnx").write_text(wanted.texts[0])
    (keys / "k").write_text(wanted.texts[0].lower())
    (data / "index" / "d.bin").write_bytes(b"\0" + wanted.ids[0].encode() + b"b")
    (data / "link").symlink_to(keys / "k")
    (data / "empty").touch()
    found = residue.search(wanted)
    assert found.elsewhere == wanted.texts
    assert (found.keys, found.index, found.free_space) == (1, 1, ())


def test_a_search_that_cannot_be_done_is_no_clean_bill(residue, database, monkeypatch):
    database[0].rename(database[0].with_name("gone.db"))
    with pytest.raises(Unavailable):
        residue.search(Wanted(("some text",)))
    database[0].with_name("gone.db").rename(database[0])
    monkeypatch.setattr(sys, "executable", str(Path("/nowhere/python")))
    with pytest.raises(Unavailable):
        residue.search(Wanted(("some text",)))


def test_the_database_itself_is_not_opened_by_this_process(residue, database):
    """Closing any descriptor of it would drop SQLite's locks on it (POSIX)."""
    path, connection = database
    connection.execute("BEGIN IMMEDIATE")
    residue.search(Wanted(("some text",)))
    other = connect(str(path), timeout=0)
    with pytest.raises(choose_driver().module.OperationalError, match="locked"):
        other.execute("BEGIN IMMEDIATE")
    other.close()
    connection.execute("ROLLBACK")

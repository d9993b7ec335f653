"""What is in a backup, and what is not."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing

import pytest

from service.adapters.backup.columns import LEFT_OUT, PERSONAL, READABLE, unclassified
from service.adapters.db.database import open_database
from service.adapters.system import RandomIdentifiers, SystemClock
from service.audit.commitment import commit
from service.domain.errors import Damaged, Unavailable
from service.ports.storage import Body, EntryDraft
from tests.integration.backup.places import ANN, BEN, HAN, SAID, rows, sqlite3
from tests.integration.checkpoints.places import SCOPE, read_note

PERSONAL_TEXTS = (
    *(ANN, BEN, HAN, "札幌", "花生", "嬉しい", "The user likes chess.", "shellfish", "bassoon"),
    *("Ljubljana", "ljubljana", "allergic", "plays go", "said both", "took it back"),
    *("The sky is blue.", "2020-02-29", "What am I allergic to?", "I like tea."),
    *(f"Ask {user} first." for user in (ANN, BEN)),
)


def columns(path) -> dict[str, tuple[str, ...]]:
    """Return the columns of text and bytes of every table."""
    with closing(sqlite3.connect(path)) as raw:
        tables = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {
            name: tuple(
                row[1]
                for row in raw.execute(f"PRAGMA table_info({name})")
                if row[2] not in ("INTEGER", "REAL")
            )
            for (name,) in tables
            if not name.startswith("sqlite_")
        }


def test_every_column_of_text_is_decided_about(place):
    found = columns(place.database)
    assert found.keys() == PERSONAL.keys() | READABLE.keys() | LEFT_OUT
    undecided = {t: unclassified(t, names) for t, names in found.items() if unclassified(t, names)}
    assert undecided == {}, "decide whether they are personal: service/adapters/backup/columns.py"
    for table, names in found.items():
        personal = PERSONAL[table].columns if table in PERSONAL else ()
        assert not set(personal) & set(READABLE.get(table, ()))
        if table not in LEFT_OUT:
            assert {*personal, *READABLE.get(table, ())} == set(names)


def test_a_column_that_nobody_has_decided_about_stops_a_backup(place):
    with closing(sqlite3.connect(place.database)) as raw:
        raw.execute("ALTER TABLE turn ADD COLUMN mood TEXT")
    with pytest.raises(Unavailable, match=r"turn\.mood"):
        place.back_up()
    assert [p.name for p in place.shelf.iterdir()] == [".backup.lock"]


def test_no_personal_byte_is_readable(place):
    stored = place.database.read_bytes()
    made = place.back_up()
    copied = b"".join(p.read_bytes() for p in made.path.iterdir())
    for text in PERSONAL_TEXTS:
        assert text == "I like tea." or text.encode() in stored, text
        assert text.encode() not in copied, text
        assert text.encode("utf-16-le") not in copied, text
    for sentences in SAID.values():
        for text in sentences:
            assert hashlib.sha256(text.encode()).hexdigest().encode() not in copied
    with closing(sqlite3.connect(place.database)) as raw:
        vectors = [row[0] for row in raw.execute("SELECT vector FROM embedding")]
        turns = [row[0].encode() for row in raw.execute("SELECT id FROM turn")]
    assert vectors
    assert turns
    assert not [v for v in vectors if v[:64] in copied]
    assert not [t for t in turns if t in copied]


def test_no_key_is_in_it(place):
    made = place.back_up()
    with closing(sqlite3.connect(place.settings.key_dir / "subjects.db")) as raw:
        keys = [row[0] for row in raw.execute("SELECT key FROM subject_key")]
        keys += [row[0] for row in raw.execute("SELECT secret FROM keystore")]
    keys += [p.read_bytes() for p in place.settings.key_dir.glob("*.key")]
    assert len(keys) >= 5
    assert all(len(key) == 32 for key in keys)
    for path in made.path.iterdir():
        assert not [key for key in keys if key in path.read_bytes()]


def test_it_is_for_its_owner_only(place):
    made = place.back_up()
    assert made.path.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in made.path.iterdir()} == {0o600}
    assert made.path.parent.stat().st_mode & 0o777 == 0o700


def test_it_says_what_is_in_it(place):
    made = place.back_up()
    manifest = json.loads((made.path / "manifest.json").read_bytes())
    for name, held in manifest["files"].items():
        data = (made.path / name).read_bytes()
        assert held == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    names = {p.name for p in made.path.iterdir()}
    assert names == {*manifest["files"], "manifest.json", "manifest.sig.txt"}
    keys = (made.path / "public-keys.txt").read_text("utf-8").split()
    note = read_note((made.path / "checkpoint.txt").read_text("utf-8"), *keys)
    assert (note.origin, note.size) == (manifest["log"], manifest["checkpoint_size"])
    with closing(sqlite3.connect(made.path / "groundkeeper.db")) as raw:
        size = raw.execute("SELECT count(*) FROM entry").fetchone()[0]
        users = [row[0] for row in raw.execute("SELECT user_id FROM subject")]
    assert manifest["size"] == size >= note.size
    assert users
    assert all(user.startswith("encrypted/1/") for user in users)


def test_what_does_not_verify_is_not_backed_up(place):
    with closing(sqlite3.connect(place.database, isolation_level=None)) as raw:
        raw.execute("UPDATE memory SET text = 'I live in Rome.' WHERE position = 1")
    with pytest.raises(Damaged, match="does not verify"):
        place.back_up()
    assert [p.name for p in place.shelf.iterdir()] == [".backup.lock"]


def test_texts_from_before_there_were_keys_are_encrypted_too(place):
    with closing(sqlite3.connect(place.database)) as raw:
        ((subject,),) = raw.execute("SELECT id FROM subject WHERE user_id = ?", (ANN,))
    salt, text = b"s" * 32, "I was born in Samarkand."
    draft = EntryDraft(
        kind="evaluation.recorded",
        actor=SCOPE.actor,
        subject=subject,
        commitments={"source": commit(salt, text.encode())},
    )
    without = open_database(place.database, clock=SystemClock(), identifiers=RandomIdentifiers())
    without.write(SCOPE, lambda tx: tx.audit.append(draft, {"source": Body(salt, text)}))
    without.close()
    before = rows(place.database)["body"]
    assert text.encode() in place.database.read_bytes()
    made = place.back_up()
    copied = (made.path / "groundkeeper.db").read_bytes()
    assert text.encode() not in copied
    assert salt not in copied
    there = place.with_data("other")
    there.restore(made.path)
    assert rows(there.database)["body"] == before
    assert there.verify().ok

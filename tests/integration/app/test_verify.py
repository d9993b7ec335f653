"""``groundkeeper verify``: options, exit codes, and words."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from service import bootstrap
from service.adapters.checkpoints.runtime import Cadence
from service.adapters.checkpoints.wiring import checkpoint_parts
from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.db.engine import choose_driver
from service.adapters.exporting.wiring import export_to
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.audit.commitment import commit, new_salt
from service.audit.notes import VerifierKey
from service.cli import main
from service.ports.storage import Body, EntryDraft, Scope
from service.settings import Settings
from service.usecases.export_log import Wanted

SCOPE = Scope("default", "key_1")


@dataclass
class Installation:
    """A service at rest whose log has six entries; all of them are signed."""

    settings: Settings
    origin: str
    key: str
    note: str

    @property
    def database(self) -> Path:
        return self.settings.data_dir / bootstrap.DATABASE_NAME

    def open(self) -> SqlDatabase:
        parts = checkpoint_parts(self.settings.checkpoints_dir, self.settings.key_dir)
        return open_it(self.settings, parts)

    def append(self, count: int = 1) -> None:
        """Go on with the log; nothing is signed."""
        database = self.open()
        for number in range(count):
            database.write(SCOPE, lambda tx, n=number: tx.audit.append(*drafted(tx, f"text {n}")))
        database.close()

    def attack(self, *statements: str, restore: bool = True) -> None:
        """Run statements with every trigger dropped, and put the triggers back."""
        connection = choose_driver().module.connect(str(self.database), isolation_level=None)
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for _, sql in triggers if restore else ():
            connection.execute(sql)
        connection.close()


def open_it(settings: Settings, parts) -> SqlDatabase:
    return open_database(
        settings.data_dir / bootstrap.DATABASE_NAME,
        clock=SystemClock(),
        identifiers=RandomIdentifiers(),
        before_new_log=parts.new_log,
        open_keys=lambda name: open_subject_keys(settings.key_dir, name),
    )


def drafted(tx, text: str) -> tuple[EntryDraft, dict[str, Body]]:
    body = Body(new_salt(), text)
    draft = EntryDraft(
        "check.decided",
        SCOPE.actor,
        subject=tx.subjects.id_for("ana"),
        commitments={"fact": commit(body.salt, text.encode())},
    )
    return draft, {"fact": body}


@pytest.fixture
def installation(tmp_path, monkeypatch) -> Installation:
    monkeypatch.chdir(tmp_path)
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", key_dir=tmp_path / "keys")
    parts = checkpoint_parts(settings.checkpoints_dir, settings.key_dir)
    database = open_it(settings, parts)
    _, signer = parts.runtime(database, SystemClock(), Cadence())
    for number in range(5):
        database.write(SCOPE, lambda tx, n=number: tx.audit.append(*drafted(tx, f"fact {n}")))
    signer.close()
    origin = database.read(SCOPE, lambda tx: tx.audit.head().origin)
    database.close()
    key = parts.keys.published()
    note = bootstrap.latest_checkpoint(settings)
    assert key is not None
    assert note is not None
    return Installation(settings, origin, key, note)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command line in this process."""

    def run(*arguments: object) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["groundkeeper", "verify", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


@pytest.fixture
def kept(installation, tmp_path) -> Path:
    """The checkpoint that somebody else kept."""
    path = tmp_path / "kept.txt"
    path.write_text(installation.note)
    return path


def test_the_configured_installation(installation, run):
    found = run()
    assert found.code == 0, found.out
    assert "6 of 6 entries verified: intact" in found.out
    assert "A signed checkpoint kept with the log fits entries 0 to 5" in found.out
    assert "5 bodies open their commitments" in found.out
    assert "Rewriting (entries changed" in found.out
    assert "NOT excluded" in found.out
    assert "taken from the log itself" not in found.out


def test_a_database_without_anything_else_known(installation, run):
    found = run("--db", installation.database)
    assert found.code == 0, found.out
    assert "level 3  outside checkpoints: not checked" in found.out
    assert "level 4  bodies: not checked" in found.out
    assert "5 bodies are encrypted and no keys were given" in found.out
    assert "The name of the log was taken from the log itself" in found.out


def test_a_checkpoint_from_elsewhere(installation, run, kept):
    installation.append(2)
    found = run("--db", installation.database, "--key", installation.key, "--against", kept)
    assert found.code == 0, found.out
    assert "Entries 0 to 5 are exactly those of a checkpoint held elsewhere" in found.out
    assert "Entries 6 to 7 came after that checkpoint: that they were rewritten is NOT" in found.out
    assert "That there once were more than 8 entries, cut off since, is NOT excluded" in found.out


def test_the_same_as_json(installation, run, kept, tmp_path):
    keys = tmp_path / "keys.txt"
    keys.write_text(f"# of my log\n{installation.key}\n")
    found = run("--key", keys, "--against", kept, "--json")
    report = json.loads(found.out)
    assert (report["ok"], report["covered"], report["origin"]) == (True, 6, installation.origin)
    assert report["not_excluded"] == ["truncation_after_checkpoint"]
    assert report["checkpoint"] | {"root": ""} == {
        "size": 6,
        "root": "",
        "outside": True,
        "fits": True,
    }
    assert [level["ok"] for level in report["levels"]] == [True] * 6


CUT = (
    "DELETE FROM body WHERE seq > 3",
    "DELETE FROM entry WHERE seq > 3",
    "DELETE FROM node WHERE (position + 1) << level > 4",
    "UPDATE head SET size = 4, leaf = (SELECT leaf FROM entry WHERE seq = 3),"
    " ts = (SELECT ts FROM entry WHERE seq = 3)",
)


def test_a_cut_log_is_only_seen_from_outside(installation, run, kept):
    installation.attack(*CUT)
    assert run("--db", installation.database).code == 0
    found = run("--db", installation.database, "--key", installation.key, "--against", kept)
    assert found.code == 1
    assert "outside checkpoint of 6" in found.out
    assert "the log was cut" in found.out
    assert "TAMPERED OR DAMAGED" in found.out
    assert run().code == 1, "the checkpoint store is outside the database"


def test_changed_missing_and_downstream_are_told_apart(installation, run):
    installation.attack(
        "UPDATE entry SET entry = CAST(replace(entry, 'key_1', 'key_2') AS BLOB) WHERE seq = 2",
        "DELETE FROM body WHERE seq = 4",
    )
    found = run()
    assert found.code == 1
    assert "broken_at, entries that were changed: 2\n" in found.out
    assert "compromised, untouched but after a change or a gap: 3-5\n" in found.out
    assert "missing, the entry or its text is gone: 4\n" in found.out


@pytest.mark.parametrize("hidden", ["", "00" * 32])
def test_entries_without_hashes_are_never_accepted(installation, run, hidden):
    installation.attack(f"UPDATE entry SET leaf = '{hidden}'")
    found = run("--db", installation.database)
    assert found.code == 1
    assert "broken_at, entries that were changed: 0-5\n" in found.out


def test_an_export(installation, run, tmp_path, kept):
    place = bootstrap.installation(installation.settings)
    export_to(place, tmp_path / "out", Wanted(bodies=True))
    given = ("--export", tmp_path / "out", "--key", installation.key)
    found = run(*given, "--against", kept)
    assert found.code == 0, found.out
    assert "5 bodies open their commitments" in found.out
    assert "level 0  file and triggers: not checked" in found.out
    assert "level 5  business tables: not checked" in found.out
    entries = tmp_path / "out" / "entries.ndjson"
    lines = entries.read_bytes().splitlines(keepends=True)
    entries.write_bytes(b"".join(lines[:4]))
    found = run(*given, "--against", kept)
    assert found.code == 1
    assert "the log was cut" in found.out
    assert run(*given).code == 1, "its own signed checkpoints say so too"
    entries.write_bytes(b"".join(lines)[:-5])
    found = run(*given)
    assert found.code == 1
    assert "PROBLEM reading stopped: entries.ndjson: a line is cut off" in found.out


def test_an_export_without_texts(installation, run, tmp_path):
    place = bootstrap.installation(installation.settings)
    export_to(place, tmp_path / "out", Wanted(bodies=False))
    found = run("--export", tmp_path / "out")
    assert found.code == 0, found.out
    assert "level 4  bodies: not checked" in found.out
    assert "stored checkpoints are of keys that were not given" in found.out


def test_what_was_lost_of_a_file_is_part_of_the_report(installation, run):
    data = bytearray(installation.database.read_bytes())
    for page in range(2 * 4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64
    installation.database.write_bytes(data)
    found = run("--db", installation.database)
    assert found.code == 1
    assert "level 0  file and triggers: BAD" in found.out
    assert "malformed" in found.out


def test_a_log_without_its_head(installation, run):
    installation.attack("DELETE FROM head")
    found = run("--db", installation.database)
    assert found.code == 1
    assert "PROBLEM the audit log has no head" in found.out
    assert "6 of 6 entries verified: file_damaged" in found.out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_bytes_that_are_no_text_can_be_printed(installation, run, options):
    installation.attack(
        "INSERT INTO decision VALUES ('default', CAST(x'ff' AS TEXT), 'check', NULL, 3, 'STORE',"
        " 'supported', 'f', '2026-11-29T17:00:00.000000Z')",
        "UPDATE head SET origin = CAST(x'ff' AS TEXT)",
    )
    found = run("--db", installation.database, *options)
    assert found.code == 1
    assert "decision ?: entry 3 is not about it" in found.out


def test_a_table_that_is_gone(installation, run):
    installation.attack("DROP TABLE node", restore=False)
    found = run("--db", installation.database)
    assert found.code == 1
    assert "PROBLEM reading stopped: no such table: node" in found.out


STRANGER = VerifierKey("other/log", Ed25519PrivateKey.generate().public_key().public_bytes_raw())


def test_what_cannot_decide_and_what_is_used_wrongly(installation, run, kept, tmp_path):
    database = ("--db", installation.database)
    same_name = VerifierKey(installation.origin, STRANGER.public).text()
    (tmp_path / "none.txt").write_text("no checkpoint\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    cases = {
        2: [
            ("--db", tmp_path / "nothing.db"),
            ("--db", kept),
            (*database, "--key", same_name, "--against", kept),
            (*database, "--key", installation.key, "--against", tmp_path / "none.txt"),
        ],
        3: [
            (*database, "--against", kept),
            (*database, "--key", "no key"),
            (*database, "--key", installation.key, "--key", STRANGER.text()),
            (*database, "--key", installation.key, "--origin", "other/log"),
            (*database, "--key", installation.key, "--against", tmp_path / "nothing.txt"),
            (*database, "--key", installation.key, "--against", tmp_path / "binary"),
            (*database, "--export", tmp_path),
            ("--export", tmp_path),
        ],
    }
    for code, calls in cases.items():
        for call in calls:
            found = run(*call)
            assert (found.code, bool(found.err)) == (code, True), (call, found)
    assert run(*database, "--origin", "another/log").code == 1

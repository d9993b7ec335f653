"""What is done behind the transaction: after a crash, with a reader in the way, with residue."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from service.adapters.backup.ledger import ErasureLedger
from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.residue.search import FileResidue, Folders
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.audit.commitment import commit, new_salt
from service.domain.digests import text_digest
from service.domain.erasure import Asked, ErasureMode, ErasureReason
from service.domain.errors import Conflict, Unavailable
from service.domain.memory import (
    Memory,
    MemoryAction,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    Triple,
    Turn,
)
from service.ports.storage import Body, EntryDraft, Scope
from service.ports.subject_keys import KeyState, SubjectRef
from service.usecases.erasure.finish import Steps
from service.usecases.erasure.plan import PlanCommand
from service.usecases.erasure.services import ErasureServices, erasure_services
from service.usecases.journal import Journal, Step
from service.usecases.verification import verify_log

SCOPE = Scope("acme", "key_1")
NOW = datetime(2026, 11, 29, 17, tzinfo=UTC)
SECRET = "The user keeps a yellow submarine called Nadezhda."
OTHER = "The user keeps a yellow submarine called Gertrude."


@dataclass
class Installation:
    """A database with its keys, opened again and again; and what stands for the index."""

    folder: Path
    purges: list[bool] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    fault: Exception | None = None

    def open(self, *, keyed: bool = True) -> SqlDatabase:
        return open_database(
            self.folder / "data" / "groundkeeper.db",
            clock=SystemClock(),
            identifiers=RandomIdentifiers(),
            open_keys=partial(open_subject_keys, self.folder / "keys") if keyed else None,
        )

    def purge(self) -> bool:
        if self.fault is not None:
            raise self.fault
        self.purges.append(True)
        return True

    def services(self, database: SqlDatabase) -> ErasureServices:
        data, keys = self.folder / "data", self.folder / "keys"
        folders = Folders(data / "groundkeeper.db", data, data / "index", keys)
        steps = Steps(
            upkeep=database.upkeep,
            keys=database.keys,
            residue=FileResidue(folders),
            forget=[lambda who: self.forgotten.append(who.subject_id)],
            purge=self.purge,
            remember=ErasureLedger(keys, folders.database),
        )
        return erasure_services(database, SystemClock(), RandomIdentifiers(), steps, ["none"])


@pytest.fixture
def installation(tmp_path) -> Installation:
    return Installation(tmp_path)


def remember(database: SqlDatabase, user: str, *texts: str) -> list[str]:
    """Write memories as the use cases do: turn, step, decision with its texts."""

    def work(tx) -> list[str]:
        subject = tx.subjects.id_for(user)
        owner, made = Owner(subject, user), []
        for text in texts:
            ids = RandomIdentifiers()
            digest = text_digest(text)
            turn = Turn(ids.new("turn"), owner, "user", text, "en", digest, NOW, NOW)
            tx.turns.add(turn)
            step = Step(MemoryAction.CREATED, memory(ids.new("mem"), owner, turn, text))
            made.append(Journal(tx, subject, NOW).write(step).id)
            body = Body(new_salt(), text)
            draft = EntryDraft(
                "check.decided",
                SCOPE.actor,
                subject=subject,
                memory=(made[-1],),
                commitments={"fact": commit(body.salt, text.encode())},
            )
            tx.audit.append(draft, {"fact": body})
        return made

    return database.write(SCOPE, work)


def memory(memory_id: str, owner: Owner, turn: Turn, text: str) -> Memory:
    return Memory(
        id=memory_id,
        owner=owner,
        text=text,
        type=MemoryType.FACT,
        triple=Triple("user", "note", text),
        importance=0.5,
        status=MemoryStatus.ACTIVE,
        origin=Origin(turn.id, "user", text, 0, len(text), turn.content_hash),
        observed_at=NOW,
        recorded_at=NOW,
        updated_at=NOW,
        verdict="STORE",
        decision_id=None,
        policy_fingerprint="f1",
        content_hash="",
        state_hash="",
    )


def plan(services: ErasureServices, user: str, asked: Asked) -> str:
    command = PlanCommand(user, asked, ErasureReason.RETENTION, "because")
    return services.plan.run(SCOPE, command).stored.plan_sha256


def erase(services: ErasureServices, user: str, *ids: str):
    mode = ErasureMode.MEMORIES if ids else ErasureMode.ALL
    sha = plan(services, user, Asked(mode, ids))
    return services.confirm.run(SCOPE, sha, allow_collateral=False)


def test_bodies_are_encrypted_where_they_are_stored(installation, hits):
    database = installation.open()
    remember(database, "ana", SECRET)
    with database._readers.connect() as connection:
        rows = connection.exec_driver_sql("SELECT salt, text, nonce FROM body").all()
    assert rows
    for salt, text, nonce in rows:
        assert salt == b""
        assert SECRET.encode() not in text
        assert len(nonce) == 12
    report = database.read(SCOPE, verify_log)
    assert report.levels[4].ok
    database.close()


def test_what_was_not_finished_is_finished_by_the_next_start(installation, hits):
    database = installation.open()
    gone, _ = remember(database, "ana", SECRET, OTHER)
    installation.fault = Unavailable("index", "still loading")
    first = erase(installation.services(database), "ana", gone)
    assert first.status == "incomplete"
    assert [f.code for f in first.findings] == ["index_not_rebuilt"]
    database.close()

    installation.fault = None
    database = installation.open()
    services = installation.services(database)
    assert services.finisher.resume() == 0
    done = services.confirm.get(SCOPE, first.id)
    assert done.status == "erased"
    assert done.finished_at is not None
    assert hits([installation.folder], SECRET) == {}
    assert hits([installation.folder], OTHER) != {}
    assert services.finisher.resume() == 0
    database.close()


def test_a_crash_right_after_the_commit(installation, hits):
    """Nothing behind the transaction happened: no key destroyed, nothing emptied or rebuilt."""
    from service.usecases.erasure import confirm

    database = installation.open()
    remember(database, "ana", SECRET)
    remember(database, "bob", OTHER)
    services = installation.services(database)
    who = SubjectRef("acme", database.read(SCOPE, lambda tx: tx.subjects.find("ana")))
    sha = plan(services, "ana", Asked(ErasureMode.ALL))
    stored, drawn = database.read(SCOPE, lambda tx: services.confirm._again(tx, sha))
    order = confirm.Order("era_1", stored, drawn, NOW)
    database.write(SCOPE, lambda tx: services.confirm._erase(tx, order))
    assert database.keys.state(who) is KeyState.PRESENT
    database.close()

    database = installation.open()
    services = installation.services(database)
    assert services.finisher.resume() == 0
    assert database.keys.state(who) is KeyState.DESTROYED
    assert services.confirm.get(SCOPE, "era_1").status == "erased"
    assert installation.purges == [True]
    assert hits([installation.folder], SECRET, "ana") == {}
    assert hits([installation.folder], OTHER, "bob") != {}
    assert database.read(SCOPE, verify_log).ok
    database.close()


def test_a_reader_of_the_old_state_keeps_it_incomplete(installation):
    database = installation.open()
    (gone,) = remember(database, "ana", SECRET)
    services = installation.services(database)
    sha = plan(services, "ana", Asked(ErasureMode.MEMORIES, (gone,)))
    inside, leave = threading.Event(), threading.Event()

    def read(tx) -> None:
        assert tx.memories.get(tx.subjects.find("ana"), gone)
        inside.set()
        assert leave.wait(60)

    reader = threading.Thread(target=database.read, args=(SCOPE, read))
    reader.start()
    assert inside.wait(60)
    first = services.confirm.run(SCOPE, sha, allow_collateral=False)
    assert first.status == "incomplete"
    assert "old_state_still_read" in {f.code for f in first.findings}
    leave.set()
    reader.join()
    assert services.confirm.get(SCOPE, first.id).status == "erased"
    subject = first.subject_id
    assert installation.forgotten.count(subject) >= 4, "forgotten again once readers had gone"
    database.close()


def test_copies_in_unused_space_are_found_and_cleaned(installation, hits):
    """Somebody deleted without overwriting: the bytes are in no row, and still in the file."""
    database = installation.open()
    remember(database, "ana", *(f"{OTHER} {n}" for n in range(60)))
    (gone,) = remember(database, "ana", SECRET)
    remember(database, "ana", *(f"{OTHER} {n}" for n in range(60, 120)))
    driver = database._driver.module
    loose = driver.connect(str(installation.folder / "data" / "groundkeeper.db"))
    loose.execute("PRAGMA secure_delete=OFF")
    loose.execute("CREATE TABLE loose (text TEXT) STRICT")
    loose.executemany("INSERT INTO loose VALUES (?)", [(SECRET,)] * 3)
    loose.execute("DELETE FROM loose")
    loose.commit()
    loose.close()
    receipt = erase(installation.services(database), "ana", gone)
    assert receipt.status == "erased"
    assert hits([installation.folder], SECRET) == {}
    assert hits([installation.folder], OTHER) != {}
    database.close()


def test_the_same_text_of_another_user_is_neither_touched_nor_told(installation, hits):
    database = installation.open()
    remember(database, "bob", SECRET)
    (gone,) = remember(database, "ana", SECRET)
    (installation.folder / "data" / "notes.txt").write_text(f"bob: {SECRET}")
    receipt = erase(installation.services(database), "ana", gone)
    assert receipt.status == "erased"
    assert receipt.findings == ()
    assert hits([installation.folder], SECRET)
    database.close()


def test_a_copy_in_another_file_is_a_finding(installation):
    database = installation.open()
    (gone,) = remember(database, "ana", SECRET)
    copy = installation.folder / "data" / "notes.txt"
    copy.write_text(f"ana: {SECRET}")
    services = installation.services(database)
    receipt = erase(services, "ana", gone)
    assert receipt.status == "incomplete"
    assert [(f.code, f.count) for f in receipt.findings] == [("other_files", 1)]
    assert "submarine" not in repr(receipt)
    copy.unlink()
    assert services.confirm.get(SCOPE, receipt.id).status == "erased"
    database.close()


def test_an_id_in_the_index_is_a_finding(installation):
    database = installation.open()
    (gone,) = remember(database, "ana", SECRET)
    index = installation.folder / "data" / "index" / "gen-1"
    index.mkdir(parents=True)
    (index / "data_level0.bin").write_bytes(b"\0\1" + gone.encode() + b"\xff")
    receipt = erase(installation.services(database), "ana", gone)
    assert [f.code for f in receipt.findings] == ["index_files"]
    database.close()


def test_an_expired_plan(installation):
    database = installation.open()
    (gone,) = remember(database, "ana", SECRET)
    services = installation.services(database)
    sha = plan(services, "ana", Asked(ErasureMode.MEMORIES, (gone,)))
    with database._writer._engine.begin() as connection:
        past = "UPDATE erasure_plan SET expires_at = ?"
        connection.exec_driver_sql(past, ("2020-01-01T00:00:00.000000Z",))
    with pytest.raises(Conflict, match="expired"):
        services.confirm.run(SCOPE, sha, allow_collateral=True)
    database.close()


def test_no_text_is_kept_for_a_plan_or_a_receipt(installation):
    database = installation.open()
    (gone,) = remember(database, "ana", SECRET)
    services = installation.services(database)
    plan(services, "ana", Asked(ErasureMode.MEMORIES, (gone,)))
    erase(services, "ana", gone)
    with database._readers.connect() as connection:
        for table in ("erasure_plan", "erasure", "erased"):
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            assert "submarine" not in str(rows)
        assert connection.exec_driver_sql("SELECT count(*) FROM erasure_plan").scalar_one() == 0
        assert connection.exec_driver_sql("SELECT count(*) FROM erased").scalar_one() > 0
    database.close()


def test_many_memories_are_many_tombstones(installation):
    database = installation.open()
    made = remember(database, "ana", *(f"{OTHER} {n}" for n in range(300)))
    receipt = erase(installation.services(database), "ana", *made)
    assert receipt.status == "erased"
    assert len(receipt.tombstones) > 1
    report = database.read(SCOPE, verify_log)
    assert report.ok, report.levels
    database.close()

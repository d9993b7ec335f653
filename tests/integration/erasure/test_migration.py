"""A database from before erasure: texts stay readable, and everything in it can be erased."""

from __future__ import annotations

from pathlib import Path

from service.adapters.db.engine import choose_driver
from service.ports.subject_keys import KeyState, SubjectRef
from service.usecases.verification import verify_log
from tests.faults.old import make_old
from tests.integration.erasure.test_finishing import (
    OTHER,
    SCOPE,
    SECRET,
    Installation,
    erase,
    remember,
)

ADD = "INSERT INTO idempotency VALUES ('acme', ?, 'h', 200, ?, '2026-11-29T17:00:00.000000Z')"


def keep_answers(file: Path, **named: str) -> None:
    """Store answers as they were stored then: nothing says whose they are but the ids in them."""
    connection = choose_driver().module.connect(str(file))
    for key, memory in named.items():
        connection.execute(ADD, (key, f'{{"memory":{{"id":"{memory}"}}}}'.encode()))
    connection.commit()
    connection.close()


def test_an_old_database(tmp_path, hits):
    today = Installation(tmp_path / "today")
    database = today.open(keyed=False)
    (gone,) = remember(database, "ana", SECRET)
    (stays,) = remember(database, "bob", OTHER)
    database.close()
    old = Installation(tmp_path / "old")
    file = old.folder / "data" / "groundkeeper.db"
    make_old(file, "0005", today.folder / "data" / "groundkeeper.db")
    keep_answers(file, first=gone, second=stays)

    database = old.open()
    users = {u: database.read(SCOPE, lambda tx, u=u: tx.subjects.find(u)) for u in ("ana", "bob")}
    for subject in users.values():
        assert database.keys.state(SubjectRef("acme", subject)) is KeyState.PRESENT
        bodies = list(database.read(SCOPE, lambda tx, s=subject: list(tx.erasure.held.bodies(s))))
        assert [b.text for b in bodies] == [SECRET if subject == users["ana"] else OTHER]
    answers = {
        u: [a.id for a in database.read(SCOPE, lambda tx, s=s: tx.erasure.held.answers(s))]
        for u, s in users.items()
    }
    assert answers == {"ana": ["first"], "bob": ["second"]}

    receipt = erase(old.services(database), "ana", gone)
    assert receipt.status == "erased"
    assert (receipt.counts["answers"], receipt.counts["texts"]) == (1, 1)
    assert database.read(SCOPE, lambda tx: tx.idempotency.get("second")) is not None
    assert database.read(SCOPE, lambda tx: tx.idempotency.get("first")) is None
    assert hits([old.folder], SECRET) == {}
    assert hits([old.folder], OTHER) != {}
    report = database.read(SCOPE, verify_log)
    assert report.ok, report.levels
    database.close()

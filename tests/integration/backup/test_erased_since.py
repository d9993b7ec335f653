"""What was erased after a backup was made stays erased when it is restored."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from service.adapters.backup.ledger import FILE_NAME, ErasureLedger, read_ledger
from service.adapters.backup.sealing import Place as Sealed
from service.adapters.backup.sealing import unseal
from service.domain.errors import Damaged, Unavailable
from service.ports.subject_keys import SubjectRef
from tests.integration.backup.places import (
    ANN,
    BEN,
    SAID,
    erase,
    files,
    post,
    remembered,
    rows,
    sqlite3,
)

ONLY_ANN = ("Ljubljana", "Reykjavik", ANN, f"Ask {ANN} first.")


def keys_of(place) -> dict[str, bytes | None]:
    with closing(sqlite3.connect(place.settings.key_dir / "subjects.db")) as raw:
        return dict(raw.execute("SELECT subject_id, key FROM subject_key"))


@pytest.fixture
def old(place):
    """A backup with everything, made before anything was erased."""
    return place.back_up()


def test_an_old_backup_of_an_erased_user_is_unreadable(place, old):
    before = keys_of(place)
    with place.serving() as client:
        assert erase(client, ANN, all=True)["status"] == "erased"
    after = keys_of(place)
    (gone,) = (who for who, key in after.items() if key is None)
    tried = [key for key in after.values() if key is not None]
    assert tried
    with closing(sqlite3.connect(old.path / "groundkeeper.db")) as raw:
        query = "SELECT id, user_id FROM subject WHERE id = ?"
        ((who, sealed),) = raw.execute(query, (gone,)).fetchall()
    where = Sealed("subject", ("user_id",), (who,), SubjectRef("default", who))
    assert unseal(before[gone], where, sealed.encode()) == [ANN.encode()]
    for key in tried:
        with pytest.raises(Damaged):
            unseal(key, where, sealed.encode())
    copied = b"".join(p.read_bytes() for p in old.path.iterdir())
    assert not [text for text in ONLY_ANN if text.encode() in copied]


def test_restoring_it_completes_the_erasure_and_leaves_the_other_user(place, old):
    with place.serving() as client:
        before = remembered(client, BEN)
        assert erase(client, ANN, all=True)["status"] == "erased"
    there = place.with_data("other")
    restored = there.restore(old.path, accept_rollback=True)
    assert (restored.repeated.users, restored.repeated.statements) == (1, 0)
    assert there.verify().ok
    (gone,) = (who for who, key in keys_of(place).items() if key is None)
    found = rows(there.database)
    for name in found.keys() - {"entry", "decision"}:
        assert gone not in repr(found[name]), name
    last = [row[8] for row in sorted(found["entry"])][old.manifest.size]
    entry = json.loads(last)
    assert (entry["kind"], entry["subject"], entry["memory"]) == ("erasure.done", gone, [])
    assert entry["decision"]["reason_code"] == "key_destroyed"
    kept = b"".join(files(there.settings.data_dir).values())
    assert not [text for text in ONLY_ANN if text.encode() in kept]
    with there.serving() as client:
        assert remembered(client, BEN) == before
        assert client.get("/memories", params={"user_id": ANN}).json()["total"] == 0
        report = client.get("/audit/verify").json()
        assert (report["ok"], report["missing"]) == (True, [])
        assert stale(client, ANN, SAID[ANN][0])


def test_single_statements_go_again(place, old):
    with place.serving() as client:
        memory = find(client, BEN, "shellfish")
        receipt = erase(client, BEN, memory_ids=[memory])
        assert receipt["status"] == "erased"
        before = remembered(client, BEN)
        of_ann = remembered(client, ANN)
    there = place.with_data("other")
    restored = there.restore(old.path, accept_rollback=True)
    assert (restored.repeated.users, restored.repeated.statements) == (0, 1)
    assert there.verify().ok
    with there.serving() as client:
        assert remembered(client, ANN) == of_ann
        assert {m["id"] for m in remembered(client, BEN)["memories"]} == {
            m["id"] for m in before["memories"]
        }
        assert remembered(client, BEN)["drift"] == "MATCH"
        assert stale(client, BEN, SAID[BEN][0])


def test_what_was_said_again_after_its_erasure_comes_back(place):
    with place.serving() as client:
        assert erase(client, BEN, memory_ids=[find(client, BEN, "shellfish")])["status"] == "erased"
        post(client, "/memory", BEN, {"message": "I am allergic to shellfish."})
        again = find(client, BEN, "shellfish")
    made = place.back_up()
    there = place.with_data("other")
    assert there.restore(made.path).repeated.statements == 0
    with there.serving() as client:
        assert find(client, BEN, "shellfish") == again


def test_a_backup_made_after_the_erasure_has_nothing_to_repeat(place):
    with place.serving() as client:
        erase(client, ANN, all=True)
    made = place.back_up()
    there = place.with_data("other")
    restored = there.restore(made.path)
    assert (restored.repeated.users, restored.repeated.statements) == (0, 0)
    assert there.verify().ok


def test_the_ledger_holds_nothing_readable_and_survives_a_crash(place):
    with place.serving() as client:
        erase(client, BEN, memory_ids=[find(client, BEN, "shellfish")])
    file = place.settings.key_dir / FILE_NAME
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"shellfish" not in file.read_bytes()
    known = read_ledger(file)
    assert {row.kind for row in known} >= {"statement"}
    assert len(rows(place.database)["erased"]) == len(known)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert len(read_ledger(file)) == len(known) - 1
    ErasureLedger(place.settings.key_dir, place.database)()
    assert set(read_ledger(file)) == set(known)
    ErasureLedger(place.settings.key_dir, place.database)()
    assert len(read_ledger(file)) == len(known)


def test_a_ledger_with_a_strange_line_stops_a_restore(place, old):
    (place.settings.key_dir / FILE_NAME).write_text('{"who": "knows"}\n', "utf-8")
    with pytest.raises(Unavailable, match="not one of ours"):
        place.with_data("other").restore(old.path)


def find(client, user: str, word: str) -> str:
    found = client.get("/memories", params={"user_id": user, "q": word}).json()["items"]
    assert len(found) == 1, found
    return str(found[0]["id"])


def stale(client, user: str, text: str) -> bool:
    """Return whether a stale copy of a statement is refused."""
    told = {"message": text, "observed_at": "2026-01-01T00:00:00Z"}
    answer = post(client, "/memory", user, told)
    return answer["memory"] is None and answer["skipped"][0]["reason"] == "erased"

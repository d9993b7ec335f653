"""The key file: made once, bound to its database, never replaced, destroyed for good."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest

from service.adapters.db.database import open_database
from service.adapters.subject_keys.store import FILE_NAME, open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.audit.commitment import commit, new_salt
from service.audit.rows import Unreadable
from service.domain.errors import Conflict, Unavailable
from service.ports.storage import Body, EntryDraft, Scope
from service.ports.subject_keys import KeyState, SubjectRef

SCOPE = Scope("acme", "key_1")
ANA, BOB = SubjectRef("acme", "sub_1"), SubjectRef("acme", "sub_2")
TEXT = "I keep a yellow submarine."


@pytest.fixture
def keys(tmp_path):
    opened = open_subject_keys(tmp_path, None)
    yield opened
    opened.close()


@pytest.fixture
def open_it(tmp_path):
    opened = []

    def open_it(keys="keys"):
        opened.append(
            open_database(
                tmp_path / "data" / "groundkeeper.db",
                clock=SystemClock(),
                identifiers=RandomIdentifiers(),
                open_keys=keys and partial(open_subject_keys, tmp_path / keys),
            )
        )
        return opened[-1]

    yield open_it
    for database in opened:
        database.close()


def append(database, user="ana") -> int:
    body = Body(new_salt(), TEXT)

    def work(tx):
        draft = EntryDraft(
            "check.decided",
            SCOPE.actor,
            subject=tx.subjects.id_for(user),
            commitments={"fact": commit(body.salt, TEXT.encode())},
        )
        return tx.audit.append(draft, {"fact": body}).seq

    return database.write(SCOPE, work)


def body_of(database, seq):
    return database.read(SCOPE, lambda tx: tx.audit.get(seq)).bodies["fact"]


def test_a_key_is_made_once_and_stays(keys, tmp_path):
    made = keys.make(ANA)
    assert len(made) == 32
    assert keys.make(ANA) == keys.find(ANA) == keys.key_for(ANA) == made
    assert keys.make(BOB) != made
    keys.close()
    again = open_subject_keys(tmp_path, keys.name)
    assert again.find(ANA) == made
    again.close()


def test_nobody_else_can_read_it(keys, tmp_path):
    path = tmp_path / FILE_NAME
    assert path.stat().st_mode & 0o077 == 0
    keys.close()
    path.chmod(0o640)
    with pytest.raises(Unavailable, match="chmod 600"):
        open_subject_keys(tmp_path, None)


def test_a_destroyed_key_is_in_no_file_and_is_never_made_again(keys, tmp_path):
    others = [SubjectRef("acme", f"sub_{n}") for n in range(100, 400)]
    for who in others:
        keys.make(who)
    made = keys.make(ANA)
    assert keys.destroy(ANA) is True
    assert keys.destroy(ANA) is False
    assert keys.find(ANA) is None
    assert keys.state(ANA) is KeyState.DESTROYED
    assert keys.state(BOB) is KeyState.UNKNOWN
    with pytest.raises(Conflict):
        keys.make(ANA)
    with pytest.raises(Unavailable, match="destroyed"):
        keys.key_for(ANA)
    assert not any(made in p.read_bytes() for p in tmp_path.iterdir())
    assert all(keys.state(who) is KeyState.PRESENT for who in others)


def test_digests_depend_on_the_file_and_on_the_user(keys, tmp_path):
    keys.make(ANA), keys.make(BOB)
    other = open_subject_keys(tmp_path / "other", None)
    assert keys.blind("user", "a", "bc") == keys.blind("user", "a", "bc")
    assert keys.blind("user", "a", "bc") != keys.blind("user", "ab", "c")
    assert keys.blind("user", "a") != keys.blind("answer", "a")
    assert keys.blind("user", "a") != other.blind("user", "a")
    assert keys.blind_for(ANA, "statement", "a") != keys.blind_for(BOB, "statement", "a")
    keys.destroy(ANA)
    with pytest.raises(Unavailable):
        keys.blind_for(ANA, "statement", "a")
    other.close()


def test_a_missing_key_file_stops_the_start_and_is_not_made_anew(open_it, tmp_path):
    database = open_it()
    append(database)
    database.close()
    (tmp_path / "keys" / FILE_NAME).rename(tmp_path / "away")
    with pytest.raises(Unavailable, match="never made anew"):
        open_it()
    assert not (tmp_path / "keys" / FILE_NAME).exists()
    (tmp_path / "away").rename(tmp_path / "keys" / FILE_NAME)
    open_it()


def test_another_databases_keys_are_refused(open_it, tmp_path):
    open_it().close()
    open_subject_keys(tmp_path / "others", None).close()
    with pytest.raises(Unavailable, match="another database"):
        open_it("others")


def test_an_older_key_file_is_refused(open_it, tmp_path):
    database = open_it()
    append(database, "ana")
    database.close()
    file = tmp_path / "keys" / FILE_NAME
    old = file.read_bytes()
    database = open_it()
    append(database, "bob")
    database.close()
    file.write_bytes(old)
    with pytest.raises(Unavailable, match="older than the database"):
        open_it()


def test_a_key_file_that_is_taken_away_stops_new_users_and_is_told(open_it, tmp_path):
    database = open_it()
    append(database, "ana")
    (tmp_path / "keys" / FILE_NAME).rename(tmp_path / "away")
    assert "removed or replaced" in database.keys.fault()
    with pytest.raises(Unavailable, match="removed or replaced"):
        append(database, "bob")
    assert database.read(SCOPE, lambda tx: tx.subjects.find("bob")) is None


def test_a_body_opens_with_its_own_key_in_its_own_place_only(open_it):
    database = open_it()
    first, second = append(database), append(database)
    assert body_of(database, first).text == TEXT
    with database._writer._engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER body_refuses_update")
        connection.exec_driver_sql(
            "UPDATE body SET (text, nonce) = (SELECT text, nonce FROM body WHERE seq = ?) "
            "WHERE seq = ?",
            (first, second),
        )
    assert body_of(database, first).text == TEXT
    assert body_of(database, second).why is Unreadable.DAMAGED
    subject = database.read(SCOPE, lambda tx: tx.subjects.find("ana"))
    database.keys.destroy(SubjectRef("acme", subject))
    assert body_of(database, first).why is Unreadable.KEY_GONE


def test_without_keys_a_body_is_locked(open_it):
    database = open_it()
    seq = append(database)
    database.close()
    assert body_of(open_it(keys=None), seq).why is Unreadable.LOCKED


def test_bodies_from_before_there_were_keys_stay_readable(open_it):
    database = open_it(keys=None)
    old = append(database, "ana")
    database.close()
    database = open_it()
    subject = database.read(SCOPE, lambda tx: tx.subjects.find("ana"))
    assert database.keys.state(SubjectRef("acme", subject)) is KeyState.PRESENT
    new = append(database, "ana")
    assert body_of(database, old).text == body_of(database, new).text == TEXT
    gone = database.write(SCOPE, lambda tx: tx.erasure.eraser.bodies(subject, None))
    assert gone == 2


def numbered():
    counter = count()
    return lambda: f"sub_{next(counter)}"


def test_a_new_user_gets_a_key_that_is_on_disk(tmp_path):
    keys, new = open_subject_keys(tmp_path, None), numbered()
    for _ in range(10):
        who = keys.take("default", new)
        other = open_subject_keys(tmp_path, keys.name)
        assert other.find(who) == keys.find(who) is not None
        other.close()
    keys.close()


def test_no_two_users_get_the_same_key_and_tenants_share_none(keys):
    new = numbered()
    taken = [keys.take(tenant, new) for tenant in ("acme", "default") * 100]
    assert len({keys.find(who) for who in taken}) == len(set(taken)) == 200
    assert {who.tenant for who in taken[::2]} == {"acme"}


def test_one_flush_makes_keys_for_many(keys):
    made: list[int] = []
    new = numbered()

    def counted():
        made.append(1)
        return new()

    ahead = []
    for _ in range(200):
        keys.take("acme", counted)
        ahead.append(len(made))
    assert ahead[:7] == [1, 3, 3, 7, 7, 7, 7], "few are left over where there are few users"
    assert len(set(ahead)) == 9, "so many flushes"
    assert ahead[-1] - 200 < 64


def test_no_user_gets_a_key_from_a_file_that_was_removed(keys, tmp_path):
    new = numbered()
    keys.take("acme", new), keys.take("acme", new)  # one more is ready
    (tmp_path / FILE_NAME).unlink()
    with pytest.raises(Unavailable, match="removed or replaced"):
        keys.take("acme", new)


def test_ids_that_exist_already_get_no_other_key_and_undo_nothing(keys):
    made = keys.make(ANA)
    with pytest.raises(Unavailable, match="UNIQUE"):
        keys.take(ANA.tenant, lambda: ANA.subject_id)
    assert keys.find(ANA) == made
    assert keys.find(keys.take(ANA.tenant, lambda: "sub_free")) is not None

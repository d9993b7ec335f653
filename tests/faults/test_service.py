"""The running service, with the file under it full, put back, cut, replaced or left half behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event

from service import bootstrap
from service.adapters.db.engine import choose_driver
from service.adapters.verifying import Known, verify_database
from service.domain.errors import Unavailable
from service.settings import Settings
from tests.conftest import make_settings, running

FACT = {"user_id": "ann", "fact": {"text": "I live in Rome."}}
OTHER = {"user_id": "ann", "fact": {"text": "I have two dogs."}}
ASKED = {"source": "I ski.", "fact": "The user skis.", "user_id": "ann"}
TWICE = "INSERT INTO alembic_version VALUES ('0001')"
MODELS = ("nli", "embedder", "language")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_settings(tmp_path, checkpoint={"entries": 1})


@pytest.fixture
def serve(settings: Settings, parts) -> Callable:
    """Run the service on the same folders; gives a client once the models are there."""

    @contextlib.contextmanager
    def serve() -> Iterator[httpx.Client]:
        with running(settings, parts) as live, live.client() as client:
            while not all(c["ok"] for c in components(client) if c["name"] in MODELS):
                time.sleep(0.02)
            yield client

    return serve


def components(client: httpx.Client) -> list[dict]:
    return client.get("/ready").json()["components"]


def database_of(settings: Settings) -> Path:
    return settings.data_dir / bootstrap.DATABASE_NAME


@contextlib.contextmanager
def full(engine) -> Iterator[None]:
    """Give the file no page more: what SQLite says is what it says about a full disk."""

    def limit(connection, _record) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    event.listen(engine, "connect", limit)
    engine.dispose()
    try:
        yield
    finally:
        event.remove(engine, "connect", limit)
        engine.dispose()


def test_a_full_disk_is_answered_503_until_there_is_room(serve, monkeypatch):
    opened = []
    real = bootstrap.open_database

    def remembered(*given, **options):
        opened.append(real(*given, **options))
        return opened[-1]

    monkeypatch.setattr(bootstrap, "open_database", remembered)
    with serve() as client:
        assert client.post("/memory", json=FACT).status_code == 201
        before = client.get("/memories", params={"user_id": "ann"}).json()
        with full(opened[0]._writer._engine):
            accepted = write_until_refused(client)
            assert client.get("/memories", params={"user_id": "ann"}).json() == before
            assert client.get("/health").status_code == 200
        told = [check(client, key) for key in (accepted, accepted, accepted + 1)]
        assert {answer.status_code for answer in told} == {200}
        found = [answer.json()["audit"]["seq"] for answer in told]
        assert found[0] == found[1] == found[2] - 1, "the refused one left nothing behind"
        assert client.get("/audit").json()["total"] == found[2]
        assert client.get("/audit/verify").json()["ok"]


def check(client: httpx.Client, key: int) -> httpx.Response:
    return client.post("/check", json=ASKED, headers={"Idempotency-Key": f"{key}"})


def write_until_refused(client: httpx.Client) -> int:
    """Ask under rising keys until there is no room; return the last key that was accepted."""
    for key in range(500):
        answer = check(client, key)
        if answer.status_code != 200:
            break
    assert answer.status_code == 503
    assert answer.json()["type"] == "/problems/unavailable"
    assert "full" in answer.json()["detail"]
    assert int(answer.headers["Retry-After"]) > 0
    assert key > 0
    return key - 1


def assert_read_only(client: httpx.Client, said: str) -> None:
    """Reading goes on; nothing is written, and the reason is told wherever it is asked."""
    for path, body in (("/memory", OTHER), ("/check", ASKED)):
        refused = client.post(path, json=body)
        assert (refused.status_code, refused.json()["type"]) == (503, "/problems/read-only")
        assert said in refused.json()["detail"]
    assert client.get("/memories", params={"user_id": "ann"}).status_code == 200
    assert client.get("/ready").status_code == 503
    assert said in client.get("/ready").text
    assert said in client.get("/audit/checkpoint").json()["read_only"]


def outside(client: httpx.Client) -> Known:
    """Return what somebody outside keeps: the last checkpoint and the public key."""
    kept = client.get("/audit/checkpoint").json()
    return Known(keys=tuple(kept["keys"]), outside=(kept["note"],))


def test_an_old_backup_put_back_is_neither_signed_nor_written_to(serve, settings, tmp_path):
    with serve() as client:
        client.post("/memory", json=FACT)
    shutil.copytree(settings.data_dir, tmp_path / "backup")
    with serve() as client:
        client.post("/memory", json=OTHER)
        now = client.get("/audit").json()["total"]
    with serve() as client:  # the last signature is made when the service stops
        known = outside(client)
    assert verify_database(database_of(settings), known).ok
    shutil.rmtree(settings.data_dir)
    (tmp_path / "backup").rename(settings.data_dir)
    with serve() as client:
        assert_read_only(client, "an old copy was restored")
        assert client.get("/audit").json()["total"] < now
        assert outside(client) == known, "nothing was signed since"
        assert not client.get("/audit/verify").json()["ok"]
    alone = verify_database(database_of(settings), Known())
    assert alone.ok, "a prefix of the log is in order in itself"
    assert "truncation" in alone.not_excluded
    compared = verify_database(database_of(settings), known)
    assert (compared.ok, compared.reason) == (False, "checkpoint_mismatch")


def test_a_wal_that_was_taken_away_is_noticed(serve, settings, tmp_path):
    with serve() as client:
        client.post("/memory", json=FACT)
    with serve() as client:
        client.post("/memory", json=OTHER)
        assert wait_for(lambda: client.get("/audit/checkpoint").json()["uncovered"] == 0)
        known = outside(client)
        shutil.copytree(settings.data_dir, tmp_path / "crashed")  # as a power cut leaves it
    shutil.rmtree(settings.data_dir)
    (tmp_path / "crashed").rename(settings.data_dir)
    wal = settings.data_dir / f"{bootstrap.DATABASE_NAME}-wal"
    assert wal.stat().st_size > 0
    assert verify_database(database_of(settings), known).ok, "what was committed is in the WAL"
    wal.unlink()
    with serve() as client:
        assert_read_only(client, "the end was cut off")
    assert verify_database(database_of(settings), known).reason == "checkpoint_mismatch"


def test_a_wal_that_was_left_behind_is_taken_in(serve, settings, tmp_path):
    with serve() as client:
        client.post("/memory", json=FACT)
        shutil.copytree(settings.data_dir, tmp_path / "crashed")
    shutil.rmtree(settings.data_dir)
    (tmp_path / "crashed").rename(settings.data_dir)
    with serve() as client:
        texts = [m["text"] for m in client.get("/memories?user_id=ann").json()["items"]]
        assert len(texts) == 1
        assert client.post("/memory", json=OTHER).status_code == 201
        assert client.get("/audit/verify").json()["ok"]


def test_a_database_cut_to_nothing_is_no_new_beginning(serve, settings):
    with serve() as client:
        client.post("/memory", json=FACT)
    os.truncate(database_of(settings), 0)
    with serve() as client:
        assert_read_only(client, "wiped or replaced")


@pytest.mark.parametrize("kept", [100, 4096, 50_000])
def test_a_database_that_was_cut_is_refused(serve, settings, parts, kept):
    with serve() as client:
        client.post("/memory", json=FACT)
    os.truncate(database_of(settings), kept)
    with pytest.raises(Unavailable, match=r"malformed|not a database|disk I/O"):
        bootstrap.build(settings, parts)
    assert not verify_database(database_of(settings), Known()).ok


def test_a_database_replaced_by_garbage_is_refused(serve, settings, parts):
    with serve() as client:
        client.post("/memory", json=FACT)
    database_of(settings).write_bytes(os.urandom(50_000))
    with pytest.raises(Unavailable, match="not a database"):
        bootstrap.build(settings, parts)
    with pytest.raises(Unavailable, match="not a database"):
        verify_database(database_of(settings), Known())


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("statement", ["UPDATE alembic_version SET version_num = '9999'", TWICE])
def test_a_database_of_no_known_version_is_refused(serve, settings, parts, statement):
    with serve():
        pass
    with contextlib.closing(choose_driver().module.connect(database_of(settings))) as other:
        other.execute(statement)
        other.commit()
    with pytest.raises(Unavailable, match="its schema is not one"):
        bootstrap.build(settings, parts)

"""/audit: paging, filters and verifying."""

from __future__ import annotations

import uuid

import pytest

from service.adapters.db.engine import choose_driver

# The server runs in this process: a second SQLite library here would drop the locks of its own.
sqlite3 = choose_driver().module

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}


@pytest.fixture
def user(client):
    name = uuid.uuid4().hex
    item = {**ASKED, "user_id": name}
    client.post("/check/batch", json={"items": [item] * 7})
    return name


def test_pages_are_complete_and_do_not_overlap(client, user):
    seen, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        query = {"user_id": user, "limit": 3, **({"cursor": cursor} if cursor else {})}
        page = client.get("/audit", params=query).json()
        assert page["total"] == 7
        seen += [e["seq"] for e in page["items"]]
        cursor, pages = page["next_cursor"], pages + 1
    assert pages == 3
    assert len(set(seen)) == 7
    assert seen == sorted(seen, reverse=True)


def test_conditions_are_all_applied(client, user):
    items = client.get("/audit", params={"user_id": user}).json()["items"]
    verdict = items[0]["decision"]["verdict"]
    other = next(v for v in ("STORE", "REJECT", "REVIEW") if v != verdict)

    def total(**query):
        return client.get("/audit", params={"user_id": user, **query}).json()["total"]

    assert total(verdict=verdict) == 7
    assert total(verdict=other) == 0
    assert total(action="check.decided") == 7
    assert total(action="policy.changed") == 0
    assert total(since=items[0]["ts"]) >= 1
    assert total(until=items[-1]["ts"]) == 0
    assert client.get("/audit", params={"user_id": "nobody"}).json() == {
        "items": [],
        "next_cursor": None,
        "total": 0,
    }


def test_verify_an_intact_log(client, user):
    report = client.get("/audit/verify").json()
    assert report["ok"]
    assert report["verified"] == report["total"] >= 8
    assert (report["broken_at"], report["compromised"], report["missing"]) == ([], [], [])
    assert report["reason"] == "intact"
    assert report["not_excluded"] == ["rewriting", "truncation"]


def test_verify_finds_a_change_and_reading_still_works(start_server):
    live = start_server()
    with live.client() as client:
        live.wait()
        for _ in range(3):
            client.post("/check", json={**ASKED, "user_id": "ana"})
        with sqlite3.connect(live.database) as raw:
            names = [
                r[0] for r in raw.execute("select name from sqlite_master where type='trigger'")
            ]
            for name in names:
                raw.execute(f'drop trigger "{name}"')
            table = next(
                r[0]
                for r in raw.execute("select name from sqlite_master where type='table'")
                if "entry" in {c[1] for c in raw.execute(f'pragma table_info("{r[0]}")')}
            )
            raw.execute(f'update "{table}" set entry = ? where seq = 2', (b"{}",))
        raw.close()
        report = client.get("/audit/verify").json()
        assert not report["ok"]
        assert 2 in report["broken_at"]
        damaged = [e for e in client.get("/audit").json()["items"] if e["damaged"]]
        assert [e["seq"] for e in damaged] == [2]

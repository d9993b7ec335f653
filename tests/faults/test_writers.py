"""Many writers at once, some of which give up half-way: one chain without a gap."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.books import audit
from tests.faults.deeds import LAST_POINT, Answer, decide, open_log

WRITERS, WRITES = 8, 400
CASES = Path(__file__).parents[1] / "cases" / "audit.jsonl"


class GaveUpError(Exception):
    """What a writer raises in the middle of its write."""


def give_up(at: int):
    def check(point: int) -> None:
        if point == at:
            raise GaveUpError

    return check


def write(database, writer: int) -> dict[str, Answer]:
    """Try every write once; about one of three gives up, each at some point of the write."""
    kept = {}
    for number in range(WRITES):
        key, at = f"{writer}-{number}", random.randint(0, 3 * (LAST_POINT + 1) - 1)
        if at > LAST_POINT:
            kept[key] = decide(database, key)
            continue
        with pytest.raises(GaveUpError):
            decide(database, key, at=give_up(at))
    return kept


def test_8_writers_of_400_with_rollbacks_leave_no_gap(path):
    database = open_log(path)
    with ThreadPoolExecutor(WRITERS) as pool:
        kept = {
            key: told
            for found in pool.map(lambda w: write(database, w), range(WRITERS))
            for key, told in found.items()
        }
    database.close()
    assert 0 < len(kept) < WRITERS * WRITES
    assert len({told.seq for told in kept.values()}) == len(kept)
    assert audit(path, kept).total == 1 + len(kept), "one entry each, and one that opens"


def test_aud_006(start_server):
    lines = CASES.read_text(encoding="utf-8").splitlines()
    case = next(c for c in map(json.loads, lines) if c["id"] == "aud-006")
    writers, each = case["request"]["parallel_writers"], case["request"]["writes_each"]
    live = start_server()
    live.wait()
    asked = {"source": "I work as a nurse.", "fact": "The user works as a nurse.", "user_id": "u"}

    def check_often(_writer: int) -> list[int]:
        with live.client() as client:
            answers = [client.post("/check", json=asked) for _ in range(each)]
        assert {a.status_code for a in answers} == {200}
        return [a.json()["audit"]["seq"] for a in answers]

    with ThreadPoolExecutor(writers) as pool:
        numbers = [n for found in pool.map(check_often, range(writers)) for n in found]
    with live.client() as client:
        assert client.get("/audit/verify").json()["ok"] is case["expect"]["valid"]
        assert client.get("/audit").json()["total"] == case["expect"]["entries"]
    assert len(numbers) == len(set(numbers)) == case["expect"]["entries"]

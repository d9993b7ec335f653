"""The whole service killed under load, over and over: what it has answered with 2xx is there.

Only in the long form: ``FAULTS_ROUNDS`` says how often, 500 times by default.
"""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from service import bootstrap
from service.adapters.verifying import Known, verify_database
from tests.faults.conftest import Life, Nursery
from tests.faults.marks import LONG

pytestmark = list(LONG)
ROUNDS = int(os.environ.get("FAULTS_ROUNDS", "500"))
CLIENTS, LOOKED_AT_AGAIN = 6, 25
PLACES = ("Rome", "Paris", "Lyon", "Oslo", "Bern", "Porto")


@dataclass(frozen=True)
class Request:
    """One request under a key of its own."""

    path: str
    body: dict = field(hash=False)
    key: str

    def send(self, client: httpx.Client) -> httpx.Response:
        return client.post(self.path, json=self.body, headers={"Idempotency-Key": self.key})


def make_request(user: str, number: int) -> Request:
    """Return a check, a statement or a message; most are about something new."""
    key, place = uuid.uuid4().hex, random.choice(PLACES)
    bodies = {
        0: ("/check", {"source": f"I live in {place}.", "fact": f"The user lives in {place}."}),
        1: ("/memory", {"fact": {"text": f"I have read {number} books."}}),
        2: ("/memory", {"message": f"I moved to {place}."}),
    }
    path, body = bodies[number % len(bodies)]
    return Request(path, {"user_id": user, **body}, key)


class Load:
    """Clients that ask until the server is gone."""

    def __init__(self, url: str, round_number: int) -> None:
        self.answered: dict[Request, httpx.Response] = {}
        self.open: list[Request] = []
        self.refused: list[int] = []
        self._url = url
        self._threads = [
            threading.Thread(target=self._ask, args=(f"user-{round_number}-{n}",))
            for n in range(CLIENTS)
        ]
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Return once every client has seen the server's end."""
        for thread in self._threads:
            thread.join()

    def _ask(self, user: str) -> None:
        number = random.randrange(1000)
        with httpx.Client(base_url=self._url, timeout=60) as client:
            while True:
                number += 1
                request = make_request(user, number)
                try:
                    answer = request.send(client)
                except httpx.TransportError:
                    self.open.append(request)
                    return
                if answer.is_success:
                    self.answered[request] = answer
                else:
                    self.refused.append(answer.status_code)


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    made = Nursery("servers.py", os.environ.get("GROUNDKEEPER_MODELS__DIR", str(tmp_path / "m")))
    yield made
    made.close()


def start(nursery: Nursery, folder: Path) -> tuple[Life, str]:
    """Start a server and wait until it is ready, its index included."""
    port = folder / "port"
    port.unlink(missing_ok=True)
    life = Life(nursery, folder, port)
    while not port.exists():
        time.sleep(0.01)
    url = f"http://127.0.0.1:{port.read_text()}"
    with httpx.Client(base_url=url, timeout=60) as client:
        while not _ready(client):
            time.sleep(0.02)
    return life, url


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx.TransportError:
        return False


def check(client: httpx.Client, answered: dict[Request, httpx.Response]) -> None:
    """Everything that was answered is there, and asking again gives the same answer."""
    for request, told in answered.items():
        again = request.send(client)
        assert (again.status_code, again.content) == (told.status_code, told.content)
        for decision in _decisions(told.json()):
            seq, leaf = decision["audit"]["seq"], decision["audit"]["entry_hash"]
            entry = client.get(f"/audit/{seq}").json()
            assert entry["entry_hash"] == leaf
            assert decision["decision_id"] in str(entry)
        memory = told.json().get("memory")
        if memory is not None:
            path = f"/memory/{memory['id']}"
            found = client.get(path, params={"user_id": request.body["user_id"]})
            assert found.status_code == 200
            assert found.json()["text"] == memory["text"]


def _decisions(answer: dict) -> list[dict]:
    if "verdict" in answer:
        return [answer]
    return [result["check"] for result in answer["results"] if result["check"]]


def check_index(client: httpx.Client, answered: dict[Request, httpx.Response]) -> None:
    """An active memory is found by its own text, whatever was rebuilt meanwhile."""
    users = sorted({request.body["user_id"] for request in answered})
    for user in random.sample(users, min(3, len(users))):
        active = client.get("/memories", params={"user_id": user}).json()["items"]
        for memory in active[:1]:
            query = {"user_id": user, "query": memory["text"], "top_k": 50}
            found = client.post("/recall", json=query).json()["memories"]
            assert memory["id"] in {m["id"] for m in found}


def test_a_killed_service_has_all_that_it_answered(nursery, tmp_path, capsys):
    answered: dict[Request, httpx.Response] = {}
    latest: dict[Request, httpx.Response] = {}
    unanswered: list[Request] = []
    for number in range(ROUNDS + 1):
        life, url = start(nursery, tmp_path)
        with httpx.Client(base_url=url, timeout=60) as client:
            again = random.sample(list(answered), min(LOOKED_AT_AGAIN, len(answered)))
            check(client, latest | {request: answered[request] for request in again})
            check_index(client, latest)
            answered |= latest | {request: request.send(client) for request in unanswered}
            assert client.get("/audit/verify").json()["ok"]
            if number == ROUNDS:
                check(client, answered)
        load = Load(url, number)
        time.sleep(random.uniform(0, 2))
        life.kill()
        load.wait()
        latest, unanswered = load.answered, load.open
        assert not load.refused
    database = tmp_path / "data" / bootstrap.DATABASE_NAME
    report = verify_database(database, Known(text_keys=tmp_path / "keys"))
    assert report.ok, report
    with capsys.disabled():
        print(f"\n{ROUNDS} kills, {len(answered)} answers, {report.total} entries")

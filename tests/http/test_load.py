"""Many clients at once: the event loop never waits, queues are bounded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from service.domain.entailment import EntailmentScores
from service.settings import Workers

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}


class Held:
    """A model that answers only when it is let."""

    def __init__(self, real):
        self.identity = real.identity
        self.called = threading.Event()
        self.go = threading.Event()

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[EntailmentScores]:
        self.called.set()
        assert self.go.wait(60)
        return [EntailmentScores(0.1, 0.8, 0.1) for _ in pairs]


@pytest.fixture
def held(parts):
    model = Held(parts.nli())
    yield model
    model.go.set()


def test_probes_and_reads_are_answered_while_a_check_runs(start_server, parts, held):
    live = start_server(with_parts=replace(parts, nli=lambda: held))
    with live.client() as client, ThreadPoolExecutor(1) as pool:
        live.wait()
        slow = pool.submit(client.post, "/check", json=ASKED)
        assert held.called.wait(60)
        for path in ("/health", "/ready", "/metrics", "/audit", "/policies", "/docs"):
            assert client.get(path).status_code == 200
            assert not slow.done()
        held.go.set()
        assert slow.result().status_code == 200


def test_a_full_queue_answers_503_with_retry_after(start_server, parts, held):
    live = start_server(
        with_parts=replace(parts, nli=lambda: held), pool=Workers(threads=1, queue=1)
    )
    with live.client() as client, ThreadPoolExecutor(4) as pool:
        live.wait()
        waiting = [pool.submit(client.post, "/check", json=ASKED) for _ in range(4)]
        refused = [w for w in waiting if w is not None and _refused(w, held)]
        assert refused
        for answer in refused:
            assert answer.result().json()["type"] == "/problems/overloaded"
            assert int(answer.result().headers["Retry-After"]) >= 1
        assert client.get("/health").status_code == 200
        held.go.set()
        kept = [w.result() for w in waiting if w not in refused]
        assert {a.status_code for a in kept} == {200}
        assert client.get("/audit").json()["total"] == len(kept)


def _refused(waiting, held) -> bool:
    assert held.called.wait(60)
    try:
        return waiting.result(timeout=1).status_code == 503
    except TimeoutError:
        return False


def test_32_clients_at_once_see_no_error(client, server):
    facts = [f"The user has {n} cats." for n in range(64)]

    def ask(fact: str) -> int:
        with server.client() as own:
            asked = {"source": "I have seven cats.", "fact": fact, "user_id": "crowd"}
            return own.post("/check", json=asked).status_code

    with ThreadPoolExecutor(32) as pool:
        assert set(pool.map(ask, facts)) == {200}
    assert client.get("/audit/verify").json()["ok"]

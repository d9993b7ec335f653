"""What went wrong in other memory services when they were operated: the cases of ``ops.jsonl``.

Those about erasure are with the other tests of erasure; ops-010 (offline, with an empty home) is in
``tests/integration/app/test_cli.py``, where processes of the command line are.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

from service.domain.errors import Unavailable
from service.ports.models import ModelIdentity
from tests.conftest import make_settings, running

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "cases" / "ops.jsonl"
CASES = {c["id"]: c for c in map(json.loads, FILE.read_text("utf-8").splitlines())}
API = yaml.safe_load((ROOT / "openapi.yaml").read_text("utf-8"))

MEMORY = {"user_id": "ann", "fact": {"text": "I work as a nurse."}}
RECALL = {"user_id": "ann", "query": "What does she work as?"}
ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}
USING_MODELS = {
    "/check": ASKED,
    "/check/batch": {"items": [ASKED]},
    "/adjudicate": {"existing": [ASKED], "incoming": ASKED},
    "/memory": MEMORY,
    "/memory/{memory_id}/supersede": {"user_id": "ann", **ASKED, "reason": "she moved"},
    "/memory/{memory_id}/restore": {"user_id": "ann", "reason": "a mistake"},
    "/recall": RECALL,
    "/reviews/{review_id}/approve": {"note": "yes"},
}


class Doubled:
    """An embedder of twice the size: what another model looks like from outside."""

    def __init__(self, real) -> None:
        self._real = real
        self.identity = ModelIdentity("doubled", "embedder", "sha256:" + "d" * 64)

    @property
    def dimensions(self) -> int:
        return 2 * self._real.dimensions

    def embed(self, texts) -> np.ndarray:
        rows = self._real.embed(texts)
        return np.concatenate([rows, rows], axis=1) / np.float32(np.sqrt(2))


def doubled(parts):
    return replace(parts, embedder=lambda: Doubled(parts.embedder()))


def says(client, query: str) -> set[str]:
    found = client.post("/recall", json={"user_id": "ann", "query": query})
    assert found.status_code == 200, found.text
    return {m["text"] for m in found.json()["memories"]}


@pytest.fixture
def run_with(start_server, tmp_path):
    """Start a server on the data of the one before it."""

    @contextlib.contextmanager
    def run_with(parts, **given):
        with running(make_settings(tmp_path, **given), parts) as live, live.client() as client:
            live.wait()
            yield client

    return run_with


def test_ops_011_an_embedding_of_another_size(run_with, parts):
    assert "re-embeds from SQLite and finds the old fact" in CASES["ops-011"]["expect"]["one_of"]
    with run_with(parts) as client:
        assert client.post("/memory", json=MEMORY).status_code == 201
        before = says(client, RECALL["query"])
    with run_with(doubled(parts)) as client:
        assert says(client, RECALL["query"]) == before != set()
        new = {"user_id": "ann", "fact": {"text": "I have a dog."}}
        assert client.post("/memory", json=new).status_code == 201
        assert says(client, "Does she have a dog?") & {"I have a dog.", "The user has a dog."}
        assert client.get("/audit/verify").json()["ok"]


def test_ops_011_or_it_refuses_with_a_clear_message(run_with, parts, start_server):
    assert "refuses to start with a clear message" in CASES["ops-011"]["expect"]["one_of"]
    with run_with(parts) as client:
        client.post("/memory", json=MEMORY)
    live = start_server(with_parts=doubled(parts), vectors={"on_model_change": "refuse"})
    with live.client() as client:
        assert _until(lambda: "ON_MODEL_CHANGE" in client.get("/ready").text)
        assert client.get("/ready").status_code == 503


def test_ops_012_several_workers(tmp_path):
    assert "refuses to start with a clear message" in CASES["ops-012"]["expect"]["one_of"]
    with pytest.raises(ValidationError, match="one process owns the data directory"):
        make_settings(tmp_path, workers=CASES["ops-012"]["request"]["workers"])


class Held:
    """An embedder that answers only when it is let."""

    def __init__(self, real) -> None:
        self.identity, self.dimensions = real.identity, real.dimensions
        self.called, self.go_on = threading.Event(), threading.Event()
        self._real = real

    def embed(self, texts) -> np.ndarray:
        self.called.set()
        assert self.go_on.wait(60)
        return self._real.embed(texts)


def test_ops_015_health_is_answered_while_a_memory_is_slow(start_server, parts):
    """The case allows 250 ms; here the slow call cannot end before health has answered."""
    held = Held(parts.embedder())
    live = start_server(with_parts=replace(parts, embedder=lambda: held))
    with live.client() as client, ThreadPoolExecutor(1) as pool:
        live.wait()
        slow = pool.submit(client.post, "/memory", json=MEMORY)
        assert held.called.wait(60)
        for path in ("/health", "/ready", "/metrics", "/memories?user_id=ann"):
            assert client.get(path).status_code == 200
        assert not slow.done()
        held.go_on.set()
        assert slow.result().status_code == 201


def test_ops_016_without_models_every_endpoint_says_the_same(start_server, parts):
    def missing():
        raise Unavailable("nli model", "model.onnx: cannot be read")

    live = start_server(with_parts=replace(parts, nli=missing))
    with live.client() as client:
        assert _until(lambda: "still loading" not in client.get("/ready").text)
        refused = [client.post(_filled(p), json=body) for p, body in USING_MODELS.items()]
        assert {a.status_code for a in refused} == {CASES["ops-016"]["expect"]["http_status"]}
        said = [{k: v for k, v in a.json().items() if k != "request_id"} for a in refused]
        assert all(one == said[0] for one in said)
        for path, methods in API["paths"].items():
            if "get" in methods and path != "/ready":
                answer = client.get(_filled(path), params={"user_id": "ann"})
                assert answer.status_code < 500, (path, answer.text)


def test_ops_018_retired_rows_are_migrated_too(run_with, parts):
    statuses = []

    def supersede(client, memory: dict, fact: str) -> dict:
        body = {"user_id": "ann", "fact": fact, "source": fact, "reason": "she said so"}
        answer = client.post(f"/memory/{memory['id']}/supersede", json=body)
        statuses.append(answer.status_code)
        return answer.json()["memory"]

    with run_with(parts) as client:
        homes = client.post("/memory", json={"user_id": "ann", "fact": {"text": "I live in Rome."}})
        jobs = client.post("/memory", json=MEMORY)
        supersede(client, homes.json()["memory"], "I live in Paris.")
    with run_with(doubled(parts)) as client:
        supersede(client, jobs.json()["memory"], "I work as a doctor.")
        old = {"user_id": "ann", "query": "Where does she live?", "include_superseded": True}
        statuses.append(client.post("/recall", json=old).status_code)
        restored = client.post(
            f"/memory/{homes.json()['memory']['id']}/restore",
            json={"user_id": "ann", "reason": "back again"},
        )
        statuses.append(restored.status_code)
        assert client.get("/audit/verify").json()["ok"]
    assert sum(status >= 500 for status in statuses) == CASES["ops-018"]["expect"]["http_5xx"]
    assert set(statuses) <= {200, 201}


def _filled(path: str) -> str:
    return re.sub(r"\{[^}]+\}", "unknown", path)


def _until(condition, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False

"""Without models the service stays up, says why, and answers 503 the same way everywhere."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from service.domain.errors import Unavailable

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}
USING_MODELS = [("/check", ASKED), ("/check/batch", {"items": [ASKED]})]


def missing():
    raise Unavailable("nli model", "/usr/lib/models/policy_nli_int8.onnx: cannot be read")


def damaged():
    raise OSError("protobuf parsing failed")


@pytest.mark.parametrize(
    ("load", "named"), [(missing, "policy_nli_int8.onnx"), (damaged, "could not be loaded")]
)
def test_models_that_cannot_be_loaded(start_server, parts, load, named):
    live = start_server(with_parts=replace(parts, nli=load))
    with live.client() as client:
        while "still loading" in client.get("/ready").text:
            time.sleep(0.05)
        ready = client.get("/ready")
        assert ready.status_code == 503
        assert named in ready.text
        assert "/usr/lib" not in ready.text
        assert client.get("/health").status_code == 200
        answers = [client.post(path, json=body) for path, body in USING_MODELS]
        bodies = [{k: v for k, v in a.json().items() if k != "request_id"} for a in answers]
        assert {a.status_code for a in answers} == {503}
        assert all(b == bodies[0] for b in bodies)
        assert "nli" in bodies[0]["detail"]
        assert all(a.headers["Retry-After"] for a in answers)
        assert client.get("/audit").json()["total"] == 0
        assert client.get("/policies").status_code == 200


def test_while_models_load(start_server, parts):
    go = threading.Event()

    def slow():
        assert go.wait(60)
        return parts.nli()

    live = start_server(with_parts=replace(parts, nli=slow))
    with live.client() as client:
        assert client.get("/health").status_code == 200
        refused = client.post("/check", json=ASKED)
        assert refused.status_code == 503
        assert "still loading" in refused.json()["detail"]
        go.set()
        live.wait()
        assert client.post("/check", json=ASKED).status_code == 200

"""Checkpoints as a client sees them, and a server that is read-only."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import structlog
import uvicorn

from service import bootstrap
from service.audit.notes import split_notes
from service.usecases.authenticate import Role, new_key
from tests.integration.checkpoints.places import Place, read_note, root_of

ROOT = Path(__file__).parents[3]
ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse.", "user_id": "ana"}
SAID = {"user_id": "ana", "message": "I use Arch Linux."}
POLICY = {"name": "strict", "version": "1"}


def loaded(client: httpx.Client) -> dict[str, dict[str, object]]:
    """Return the components of /ready once the models are there."""
    while True:
        found = {c["name"]: c for c in client.get("/ready").json()["components"]}
        if all(found[name]["ok"] for name in ("nli", "embedder", "language")):
            return found
        time.sleep(0.05)


def test_every_decision_is_answered_with_the_last_checkpoint(start_server):
    live = start_server()
    with live.client() as client:
        live.wait()
        place = Place(live.settings, None)
        before = place.latest()
        check = client.post("/check", json=ASKED).json()
        batch = client.post("/check/batch", json={"items": [ASKED, ASKED]}).json()
        memory = client.post("/memory", json=SAID).json()
        weighing = {"existing": [ASKED | {"user_id": None}], "incoming": ASKED | {"user_id": None}}
        for side in (*weighing["existing"], weighing["incoming"]):
            side.pop("user_id")
        weighed = client.post("/adjudicate", json=weighing).json()
        answers = [check, *batch["items"], memory["results"][0]["check"], weighed]
        assert {a["audit"]["checkpoint"] for a in answers} <= {before, place.latest()}
        assert all(read_note(a["audit"]["checkpoint"], place.vkey()) for a in answers)
        unrecorded = client.post("/check", json=ASKED | {"record": False}).json()
        assert unrecorded["audit"] is None


def test_a_replayed_answer_has_the_checkpoint_of_the_first(start_server):
    live = start_server()
    with live.client(**{"Idempotency-Key": "once"}) as client:
        live.wait()
        first = client.post("/check", json=ASKED)
        assert client.post("/check", json=ASKED).content == first.content


def test_the_endpoint_gives_json_or_the_bare_note(start_server):
    live = start_server()
    place = Place(live.settings, None)
    with live.client() as client:
        assert client.post("/policies", json=POLICY).status_code == 201
        answer = client.get("/audit/checkpoint").json()
        seen = read_note(answer["note"], place.vkey())
        assert (answer["origin"], answer["size"]) == (seen.origin, seen.size)
        assert answer["root"] == seen.root.hex()
        assert answer["keys"] == [place.vkey()]
        assert answer["uncovered"] == 2 - seen.size
        assert answer["age_seconds"] >= 0
        assert answer["rotations"] == []
        assert answer["read_only"] is None
        for asked in (
            client.get("/audit/checkpoint", params={"format": "note"}),
            client.get("/audit/checkpoint", headers={"Accept": "text/plain"}),
        ):
            assert asked.headers["content-type"] == "text/plain; charset=utf-8"
            assert asked.text == answer["note"]
        both = client.get("/audit/checkpoint?format=json", headers={"Accept": "text/plain"})
        assert both.json()["note"] == answer["note"]
        assert client.get("/audit/checkpoint?format=xml").status_code == 422


def test_metrics_and_readiness_tell_where_signing_stands(start_server):
    live = start_server()
    with live.client() as client:
        client.post("/policies", json=POLICY)
        text = client.get("/metrics").text
        figures = dict(re.findall(r"^(groundkeeper_\w+) (\S+)$", text, re.MULTILINE))
        assert 0 <= float(figures["groundkeeper_checkpoint_age_seconds"]) < 3600
        assert figures["groundkeeper_checkpoint_uncovered_entries"] == "1.0"
        assert figures["groundkeeper_read_only"] == "0.0"
        components = {c["name"]: c for c in client.get("/ready").json()["components"]}
        assert components["checkpoint"]["detail"] == "1 entries signed, 1 not yet"


def test_a_key_is_needed_where_keys_are_configured(start_server):
    key, made = new_key("default", Role.READER)
    live = start_server(api_keys=(made,))
    with live.client() as client:
        assert client.get("/audit/checkpoint").status_code == 401
        assert client.get("/audit/checkpoint", headers={"X-API-Key": key}).status_code == 200


def test_signing_is_logged(place):
    lines: list[dict[str, object]] = []

    def keep(_logger: object, _method: str, event: dict[str, object]) -> str:
        lines.append(dict(event))
        return ""

    before = structlog.get_config()
    structlog.configure(processors=[keep])
    try:
        place.run(entries=1)
        shutil.rmtree(place.store)
        place.run()
    finally:
        structlog.configure(**before)
    signed = [line for line in lines if line["event"] == "checkpoint signed"]
    assert [line["size"] for line in signed] == [1, 2]
    seen = read_note(str(signed[-1]["note"]), place.vkey())
    assert signed[-1]["root"] == seen.root.hex() == root_of(place.leaves()).hex()
    refused = [line for line in lines if str(line["event"]).startswith("checkpoint refused")]
    assert len(refused) == 1
    assert "no checkpoint store" in str(refused[0]["reason"])


@contextmanager
def serving(place: Place) -> Iterator[httpx.Client]:
    """A server that can be stopped and started again within a test."""
    app = bootstrap.create_app(place.settings, place.build)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="on", ws="none", log_config=None))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            loaded(client)
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def test_a_restored_old_copy_is_served_read_only(place):
    with serving(place) as client:
        assert client.post("/memory", json=SAID).status_code == 201
    old = place.copy_data("old")
    with serving(place) as client:
        made = client.post("/memory", json={"user_id": "ana", "message": "I have two cats."})
        assert made.status_code == 201
    place.restore_data(old)
    with serving(place) as client:
        ready = client.get("/ready")
        assert ready.status_code == 503
        components = {c["name"]: c for c in ready.json()["components"]}
        assert [name for name, c in components.items() if not c["ok"]] == ["checkpoint"]
        assert "an old copy was restored" in components["checkpoint"]["detail"]
        for path, body in (("/memory", SAID), ("/check", ASKED), ("/policies", POLICY)):
            refused = client.post(path, json=body)
            assert refused.status_code == 503
            assert refused.json()["type"] == "/problems/read-only"
            assert "an old copy was restored" in refused.json()["detail"]
        asked = {"user_id": "ana", "query": "Which operating system does the user use?"}
        recalled = client.post("/recall", json=asked).json()
        assert [m["text"] for m in recalled["memories"]] == ["The user uses Arch Linux."]
        assert recalled["receipt"] is None
        assert client.post("/check", json=ASKED | {"record": False}).status_code == 200
        assert client.get("/memories", params={"user_id": "ana"}).json()["total"] == 1
        assert client.get("/audit").status_code == 200
        assert client.get("/audit/verify").status_code == 200
        answer = client.get("/audit/checkpoint").json()
        assert "an old copy was restored" in answer["read_only"]
        assert answer["note"] == place.latest()
        assert re.search("^groundkeeper_read_only 1.0$", client.get("/metrics").text, re.MULTILINE)


@contextmanager
def process(place: Place) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client, Path]]:
    """The service as it is run, in a process of its own."""
    folder = place.settings.data_dir.parent
    log = folder / "log"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GROUNDKEEPER_")}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "GROUNDKEEPER_PORT": "0",
        "GROUNDKEEPER_DATA_DIR": str(place.settings.data_dir),
        "GROUNDKEEPER_KEY_DIR": str(place.settings.key_dir),
        "GROUNDKEEPER_CHECKPOINT__SECONDS": "3600",
    }
    with log.open("wb") as stream:
        running = subprocess.Popen(
            [sys.executable, "-m", "service"], cwd=folder, env=environment, stderr=stream
        )
    try:
        with httpx.Client(base_url=address(log, running), timeout=60) as client:
            yield running, client, log
    finally:
        running.kill()
        running.wait(60)


def address(log: Path, running: subprocess.Popen[bytes]) -> str:
    while not (found := re.search(r"http://127\.0\.0\.1:\d+", log.read_text())):
        assert running.poll() is None, log.read_text()
        time.sleep(0.1)
    return found[0]


def test_sigterm_signs_what_was_written(place):
    with process(place) as (running, client, log):
        for number in range(3):
            assert client.post("/policies", json=POLICY | {"version": str(number)}).is_success
        assert read_note(place.latest(), place.vkey()).size == 1
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) in (0, -signal.SIGTERM)
    seen = read_note(place.latest(), place.vkey())
    assert (seen.size, seen.root) == (4, root_of(place.leaves()))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["size"] for line in lines if line["event"] == "checkpoint signed"] == [1, 4]


def test_sigkill_loses_nothing_that_was_signed(place):
    with process(place) as (running, client, _log):
        assert client.post("/policies", json=POLICY).is_success
        running.kill()
        running.wait(60)
    assert read_note(place.latest(), place.vkey()).size == 1
    place.run()
    assert [read_note(n, place.vkey()).size for n in split_notes(place.published())] == [0, 1, 2]

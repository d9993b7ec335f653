"""The optional language model: its proposals pass the gate, its failures are named.

The model itself cannot run here, so a small server in its place gives fixed answers.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from service.settings import ExtractorSettings

ANSWERS = {
    "good": json.dumps(
        {"facts": ["The user is a vegetarian.", "The user owns a helicopter.", 7, "x" * 900]}
    ),
    "broken": "no JSON at all",
}


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[dict]]]:
    seen: list[dict] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(body)
            said = {"choices": [{"message": {"content": ANSWERS[body["model"]]}}]}
            content = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", seen
    server.shutdown()
    server.server_close()
    thread.join()


def remember(live, message: str, role: str = "user"):
    with live.client() as client:
        body = {"user_id": "u1", "messages": [{"role": role, "content": message}]}
        return client.post("/memory", json=body)


def test_proposals_pass_the_same_gate(start_server, endpoint):
    url, seen = endpoint
    live = start_server(extractor=ExtractorSettings(url=url, model="good"))
    live.wait()
    answer = remember(live, "As a vegetarian I never order steak.").json()
    verdicts = {r["text"]: r["status"] for r in answer["results"]}

    assert verdicts["The user is a vegetarian."] == "created"
    assert verdicts["The user owns a helicopter."] in ("review", "rejected")
    assert len(seen) == 1


def test_secrets_and_others_are_not_shown(start_server, endpoint):
    url, seen = endpoint
    live = start_server(extractor=ExtractorSettings(url=url, model="good"))
    live.wait()
    remember(live, "The password is demo-pass-123.")
    remember(live, "I suggest the blue one.", role="assistant")

    assert seen == []


def test_a_broken_answer_is_a_named_503_and_stores_nothing(start_server, endpoint):
    url, _ = endpoint
    live = start_server(extractor=ExtractorSettings(url=url, model="broken"))
    live.wait()
    answer = remember(live, "I live in Rome.")

    assert answer.status_code == 503
    assert "extractor" in answer.json()["detail"]
    with live.client() as client:
        assert client.get("/memories", params={"user_id": "u1"}).json()["total"] == 0


def test_another_machine_is_refused():
    with pytest.raises(ValueError, match="another machine"):
        ExtractorSettings(url="https://models.example.com/v1")

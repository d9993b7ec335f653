"""A client that erases, and a search through the bytes of files that knows nothing of ours."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.conftest import make_settings, running

COUNT = """
import json, pathlib, sys
asked = json.load(sys.stdin)
needles = [bytes.fromhex(n) for n in asked["needles"]]
found = {}
for root in asked["roots"]:
    for path in pathlib.Path(root).rglob("*"):
        if path.is_file() and "models" not in path.parts:
            count = sum(path.read_bytes().count(n) for n in needles)
            if count:
                found[path.name] = found.get(path.name, 0) + count
json.dump(found, sys.stdout)
"""


@dataclass
class Eraser:
    """A client that speaks for one user and has things erased."""

    http: httpx.Client
    user: str = field(default_factory=lambda: f"user-{uuid.uuid4().hex[:12]}")

    def post(self, path: str, body: dict, **headers: str) -> httpx.Response:
        return self.http.post(path, json={"user_id": self.user, **body}, headers=headers)

    def say(self, message: str, **given) -> dict:
        answer = self.post("/memory", {"message": message, **given})
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def state(self, text: str, **given) -> dict:
        answer = self.post("/memory", {"fact": {"text": text, **given}})
        assert answer.status_code == 201, answer.text
        return answer.json()["memory"]

    def tell(self, *messages: tuple[str, str]) -> dict:
        said = [{"role": role, "content": content} for role, content in messages]
        answer = self.post("/memory", {"messages": said})
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def texts(self) -> set[str]:
        params = {"user_id": self.user, "status": "all", "limit": 200}
        return {m["text"] for m in self.http.get("/memories", params=params).json()["items"]}

    def recall(self, query: str) -> dict:
        return self.post("/recall", {"query": query}).json()

    def plan(self, **asked) -> httpx.Response:
        return self.post("/erasures/plan", {"reason": "user_request", **asked})

    def planned(self, **asked) -> dict:
        answer = self.plan(**asked)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def confirm(self, plan: dict, *, consent: bool = False) -> httpx.Response:
        body = {"plan_sha256": plan["plan_sha256"], "allow_collateral": consent}
        return self.http.post("/erasures", json=body)

    def erase(self, *, consent: bool = False, **asked) -> dict:
        answer = self.confirm(self.planned(**asked), consent=consent)
        assert answer.status_code == 201, answer.text
        assert answer.json()["findings"] == []
        assert answer.json()["status"] == "erased"
        return answer.json()

    def audit(self, **params) -> list[dict]:
        return self.http.get("/audit", params={"limit": 200, **params}).json()["items"]

    def drift(self) -> str:
        return self.http.get("/memories/drift", params={"user_id": self.user}).json()["status"]

    def export(self) -> str:
        return self.http.get(f"/users/{self.user}/export").text


def spellings(needle: str | bytes) -> list[bytes]:
    if isinstance(needle, bytes):
        return [needle]
    return [needle.encode(), json.dumps(needle)[1:-1].encode()]


@pytest.fixture
def me(client):
    """A user; afterwards the log verifies and nothing of theirs has drifted."""
    made = Eraser(client)
    yield made
    report = client.get("/audit/verify").json()
    assert report["ok"], report["levels"]
    assert made.drift() == "MATCH"


@pytest.fixture
def somebody(client):
    return Eraser(client)


@pytest.fixture
def make_server(tmp_path, parts):
    """Make what starts a server on the same folders, again and again."""

    def make(**given):
        settings = make_settings(tmp_path, **given)
        return lambda: running(settings, parts)

    return make


@pytest.fixture
def hits() -> Callable[..., dict[str, int]]:
    """Count texts, ids or bytes in every file below some folders, by file name.

    In a process of its own: one that opens a database file beside SQLite loses its locks on it.
    """

    def hits(roots: list[Path], *needles: str | bytes) -> dict[str, int]:
        spelled = {form for needle in needles for form in spellings(needle)}
        asked = {"roots": [str(r) for r in roots], "needles": [form.hex() for form in spelled]}
        done = subprocess.run(
            [sys.executable, "-c", COUNT],
            input=json.dumps(asked).encode(),
            capture_output=True,
            check=True,
        )
        return json.loads(done.stdout)

    return hits

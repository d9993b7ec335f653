"""One user per test, and short words for what a client does."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

import httpx
import pytest


@dataclass
class Client:
    """A client that speaks for one user."""

    http: httpx.Client
    user: str = field(default_factory=lambda: f"user-{uuid.uuid4().hex[:12]}")

    def post(self, path: str, body: dict, **headers: str) -> httpx.Response:
        return self.http.post(path, json={"user_id": self.user, **body}, headers=headers)

    def get(self, path: str, **params) -> httpx.Response:
        return self.http.get(path, params={"user_id": self.user, **params})

    def say(self, message: str, **given) -> dict:
        answer = self.post("/memory", {"message": message, **given})
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def state(self, text: str, **given) -> dict:
        answer = self.post("/memory", {"fact": {"text": text, **given}})
        assert answer.status_code == 201, answer.text
        return answer.json()["memory"]

    def memories(self, status: str = "active", **params) -> list[dict]:
        return self.get("/memories", status=status, **params).json()["items"]

    def texts(self, status: str = "active") -> set[str]:
        return {m["text"] for m in self.memories(status)}

    def change(self, memory: dict, verb: str, **body) -> httpx.Response:
        return self.post(f"/memory/{memory['id']}/{verb}", {"reason": "because", **body})

    def one(self, memory: dict) -> dict:
        return self.get(f"/memory/{memory['id']}").json()


@pytest.fixture
def me(client):
    """A client of one user; afterwards the log verifies and nothing of the user has drifted."""
    made = Client(client)
    yield made
    assert client.get("/audit/verify").json()["ok"]
    assert made.get("/memories/drift").json()["status"] == "MATCH"


@pytest.fixture
def somebody(client):
    """Another user of the same tenant."""
    return Client(client)

"""A log with real decisions of two tenants, closed properly, so that all of it is signed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from service import bootstrap
from service.adapters.exporting.wiring import export_to
from service.settings import Settings
from service.usecases.authenticate import Role, new_key
from service.usecases.export_log import Wanted
from tests.conftest import make_settings, running

SAID = [
    ("I am allergic to peanuts.", "The user is allergic to peanuts."),
    ("I am allergic to peanuts.", "The user loves eating peanuts."),
    ("I have two cats.", "The user has three cats."),
    ("Could I become a lawyer?", "The user is a lawyer."),
    ("彼女は先生です。", "The user is a teacher."),
]
HOSTILE = [
    ('I like <script>alert("x")</script> & tags.', "The user dislikes <script> tags."),
    ("I have 2 | pipes | and `ticks`.", "=HYPERLINK(1) The user has 3 | pipes."),
    ("אני גר בתל אביב.", "The user lives in Haifa."),
    ("I have 2 dogs \u202ereally.", "The user has 4 dogs."),
    ("I own 7 boats. " + "I sail. " * 1_500, "The user owns 8 boats."),
]


@dataclass(frozen=True)
class Installed:
    """A stopped installation, and the key that its log is verified with."""

    settings: Settings
    key: str
    tenants: tuple[str, ...] = ("acme", "globex")

    def export(self, out: Path, **wanted: object) -> Path:
        export_to(bootstrap.installation(self.settings), out, Wanted(**wanted))
        return out


@pytest.fixture(scope="session")
def installed(tmp_path_factory, parts) -> Installed:
    made = {name: new_key(name, Role.ADMIN) for name in ("acme", "globex")}
    settings = make_settings(
        tmp_path_factory.mktemp("log"), api_keys=tuple(key for _, key in made.values())
    )
    with running(settings, parts) as live:
        live.wait()
        with live.client(Authorization=f"Bearer {made['acme'][0]}") as client:
            _fill(client)
        with live.client(Authorization=f"Bearer {made['globex'][0]}") as client:
            check(client, *SAID[0], user_id="zoe")
    current, _ = bootstrap.log_keys(settings)
    assert current is not None
    return Installed(settings, current)


def check(client, source: str, fact: str, **more: object) -> dict:
    answer = client.post("/check", json={"source": source, "fact": fact, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _fill(client) -> None:
    for source, fact in SAID:
        check(client, source, fact, user_id="ana")
    check(client, *SAID[1])
    rules = {"name": "strict", "version": "2", "store_threshold": 0.7}
    strict = client.post("/policies", json=rules).json()
    default = {"fingerprint": strict["fingerprint"]}
    assert client.put("/policies/default", json=default).status_code == 200
    for source, fact in HOSTILE:
        check(client, source, fact, user_id="bob")
    client.post("/memory", json={"user_id": "ana", "message": "I live in Lisbon."})
    maybe = "I might move to Porto, and my sister works as a nurse there."
    client.post("/memory", json={"user_id": "ana", "message": maybe})
    fact = {"text": "The user plays chess.", "source": "We talked about football."}
    client.post("/memory", json={"user_id": "ana", "fact": fact})

"""One installation with two users, its backups, and a look at both without our own code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from service import bootstrap
from service.adapters.backup.wiring import back_up, restore_from
from service.adapters.db.engine import choose_driver
from service.adapters.verifying import Known
from service.audit.verify import Report
from service.bootstrap import Parts
from service.settings import Settings
from service.usecases.backup import Made
from service.usecases.restore import Restored, Wishes
from tests.conftest import running

# The same library as ours: two copies of SQLite in one process do not see each other's locks.
sqlite3 = choose_driver().module
ROOT = Path(__file__).parents[3]
ANN, BEN = "ann@example.org", "ben-0047"
SAID = {
    ANN: ("I live in Reykjavik.", "I moved to Ljubljana.", "I am allergic to shellfish."),
    BEN: ("I am allergic to shellfish.", "I play the bassoon."),
}
HAN = "我对花生过敏，住在札幌。"
LEFT_OUT = {"idempotency", "idempotency_subject", "erasure_plan"}
GROWS = {"entry", "node", "head"}
EMPTY = {"default_policy", "erased", "erasure", "erasure_plan", "policy"}


@dataclass(frozen=True)
class Place:
    """The folders of one installation."""

    settings: Settings
    parts: Parts

    @property
    def database(self) -> Path:
        return self.settings.data_dir / bootstrap.DATABASE_NAME

    @property
    def shelf(self) -> Path:
        return self.settings.data_dir.parent / "backups"

    @contextmanager
    def serving(self) -> Iterator[httpx.Client]:
        with running(self.settings, self.parts) as live:
            live.wait()
            with live.client() as client:
                yield client

    def back_up(self, keep: int | None = None) -> Made:
        return self.back_up_recorded(keep)[0]

    def back_up_recorded(self, keep: int | None = None) -> tuple[Made, int | None]:
        return back_up(bootstrap.installation(self.settings), self.shelf, keep)

    def restore(self, folder: Path, **wishes: bool) -> Restored:
        place = bootstrap.installation(self.settings)
        return restore_from(place, (self.settings.data_dir / "index",), folder, Wishes(**wishes))[0]

    def verify(self, *outside: str) -> Report:
        return bootstrap.verify_installation(self.settings, Known(outside=outside))

    def with_data(self, name: str) -> Place:
        """Return the same installation with another data directory."""
        other = self.settings.data_dir.parent / name
        return replace(self, settings=self.settings.model_copy(update={"data_dir": other}))

    def copied(self, folder: Path) -> Place:
        """Return a copy of everything, for a test that changes it."""
        for name in (self.settings.data_dir, self.settings.key_dir):
            shutil.copytree(name, folder / name.name)
        moved = {"data_dir": folder / "data", "key_dir": folder / "keys"}
        return replace(self, settings=self.settings.model_copy(update=moved))


def command(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as an operator does: in a process of its own, beside the service."""
    ours = ("GROUNDKEEPER_", "PYTEST_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    folders = {"DATA_DIR": place.settings.data_dir, "KEY_DIR": place.settings.key_dir}
    given = {f"GROUNDKEEPER_{name}": str(path) for name, path in folders.items()}
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        cwd=place.settings.data_dir.parent,
        env={**kept, **given, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table."""
    with closing(sqlite3.connect(path)) as raw:
        names = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        tables = [name for (name,) in names if not name.startswith("sqlite_")]
        return {name: sorted(raw.execute(f"SELECT * FROM {name}"), key=repr) for name in tables}


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, apart from locks."""
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.endswith(".lock"))
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


def fill(client: httpx.Client) -> dict[str, dict]:
    """Let two users say what they have to say, and do everything that leaves a row."""
    made: dict[str, dict] = {}
    for user, sentences in SAID.items():
        for number, text in enumerate(sentences):
            key = {"Idempotency-Key": f"{user}-{number}"}
            made[text] = post(client, "/memory", user, {"message": text, "agent_id": "a1"}, key)
        likes = [state(client, user, f"The user likes {thing}.") for thing in ("tea", "chess")]
        pair = {"first": likes[0], "second": likes[1], "reason": f"{user} said both"}
        post(client, "/memories/conflicts", user, {**pair, "confidence": 0.5})
        post(client, "/memory", user, {"message": HAN, "session_id": "札幌"})
        doubtful = {"text": f"{user} plays go.", "source": "The sky is blue."}
        post(client, "/memory", user, {"fact": doubtful})
        post(client, "/lessons", user, {"text": f"Ask {user} first.", "evidence": "ABC-12"})
        post(client, f"/memory/{likes[1]}/retract", user, {"reason": f"{user} took it back"})
        made[user] = post(client, "/recall", user, {"query": "What am I allergic to?"})
    client.post("/lessons", json={"text": "Never on a Friday.", "evidence": "ABC-13"})
    client.post("/recall", json={"user_id": "nobody", "query": "Who am I?"})
    client.post("/check", json={"source": "I like tea.", "fact": "The user likes tea."})
    client.put("/attributes/home", json={"functional": True})
    return made


def state(client: httpx.Client, user: str, text: str) -> str:
    body = {
        "fact": {"text": text, "metadata": {"mood": "嬉しい"}, "valid_from": "2020-02-29T00:00Z"}
    }
    return str(post(client, "/memory", user, body)["memory"]["id"])


def post(
    client: httpx.Client, path: str, user: str, body: dict, headers: dict | None = None
) -> dict:
    answer = client.post(path, json={"user_id": user, **body}, headers=headers)
    assert answer.is_success, answer.text
    return dict(answer.json())


def remembered(client: httpx.Client, user: str) -> dict[str, object]:
    """Return what a client can read about a user."""
    mine = {"user_id": user}
    ask = {**mine, "query": "What am I allergic to?", "receipt": False}
    found = client.post("/recall", json=ask).json()["memories"]
    return {
        "memories": client.get("/memories", params={**mine, "status": "all"}).json()["items"],
        "reviews": client.get("/reviews", params=mine).json()["items"],
        "export": {k: v for k, v in held(client, user).items() if k != "exported_at"},
        "recalled": [(m["id"], m["text"], m["score"]) for m in found],
        "drift": client.get("/memories/drift", params=mine).json()["status"],
    }


def held(client: httpx.Client, user: str) -> dict:
    return dict(client.get(f"/users/{user}/export").json())


def erase(client: httpx.Client, user: str, **what: object) -> dict:
    """Plan an erasure and carry it out, collateral included."""
    plan = post(client, "/erasures/plan", user, {"reason": "user_request", **what})
    body = {"plan_sha256": plan["plan_sha256"], "allow_collateral": True}
    answer = client.post("/erasures", json=body)
    assert answer.is_success, answer.text
    return dict(answer.json())

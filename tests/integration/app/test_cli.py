"""The command line as a user runs it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from service.adapters.db.engine import choose_driver

# The server runs in this process: a second SQLite library here would drop the locks of its own.
sqlite3 = choose_driver().module

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path):
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("GROUNDKEEPER_", "PYTEST_"))
    }
    environment |= {"HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}

    def call(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        given = {f"GROUNDKEEPER_{k}": v for k, v in settings.items()}
        return subprocess.run(
            [sys.executable, "-m", "service", *arguments],
            cwd=tmp_path,
            env={**environment, **given},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_keygen_makes_a_key_that_can_be_configured(run):
    made = run("keygen", "--tenant", "acme", "--role", "admin")
    assert made.returncode == 0
    entry = made.stdout.split()[-1]
    assert entry.startswith("acme:admin:")
    assert run("doctor", API_KEYS=entry).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["serve"], {"HOST": "0.0.0.0"}, "ALLOW_OPEN"),  # noqa: S104 - it must be refused
        (["serve"], {"HOST": "example.org"}, "ALLOW_OPEN"),
        (["serve"], {"PORT": "70000"}, "GROUNDKEEPER_PORT"),
        (["serve"], {"PORT": "many"}, "GROUNDKEEPER_PORT"),
        (["serve"], {"LIMITS__FACT": "0"}, "GROUNDKEEPER_LIMITS__FACT"),
        (["serve"], {"API_KEYS": "acme:writer:hunter2"}, "keygen"),
        (["serve"], {"KEY_DIR": "data/keys"}, "KEY_DIR"),
        (["serve"], {"DATABASE_URL": "mysql://x/y"}, "DATABASE_URL"),
        (["serve"], {"LOG_LEVEL": "loud"}, "GROUNDKEEPER_LOG_LEVEL"),
        (["serve", "--workers", "4"], {}, "only 1"),
        (["keygen", "--role", "god"], {}, "god"),
        (["verify", "--what"], {}, "--what"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(run, arguments, settings, said):
    refused = run(*arguments, **settings)
    assert refused.returncode == 3, refused.stderr
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "hunter2" not in refused.stderr


def test_verify_without_a_database_cannot_decide(run, tmp_path):
    undecided = run("verify")
    assert undecided.returncode == 2
    assert not (tmp_path / "data").exists()
    (tmp_path / "no.db").write_bytes(b"not a database" * 100)
    assert run("verify", "--db", "no.db").returncode == 2


def test_verify_a_running_log_and_a_changed_one(run, server, tmp_path):
    with server.client() as client:
        client.post("/check", json={"source": "I ski.", "fact": "The user skis.", "user_id": "u"})
    good = run("verify", "--db", str(server.database), "--json")
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["ok"]
    with sqlite3.connect(server.database) as source, sqlite3.connect(tmp_path / "copy.db") as copy:
        source.backup(copy)
        for (name,) in copy.execute(
            "select name from sqlite_master where type='trigger'"
        ).fetchall():
            copy.execute(f'drop trigger "{name}"')
        copy.commit()
    source.close()
    copy.close()
    bad = run("verify", "--db", "copy.db")
    assert bad.returncode == 1
    assert "trigger" in bad.stdout


def test_origin_is_the_verifiers_input(run, server):
    wrong = run("verify", "--db", str(server.database), "--origin", "another/log")
    assert wrong.returncode == 1


def test_a_second_process_is_told_so(run, server):
    refused = run("serve", "--port", "0", DATA_DIR=str(server.settings.data_dir))
    assert refused.returncode == 2
    assert "another process" in refused.stderr


def test_check_from_the_shell(run):
    answered = run("check", "The user works as a nurse.", "I work as a nurse.")
    assert answered.returncode == 0, answered.stderr
    assert json.loads(answered.stdout)["verdict"] in ("STORE", "REVIEW", "REJECT")
    assert run("check", "", "text").returncode == 3


def test_models_verify(run):
    assert run("models", "verify").returncode == 0
    listed = run("models", "list").stdout
    assert "nli:" in listed
    assert "embedder:" in listed


def test_openapi_says_when_the_file_is_not_current(run, tmp_path):
    (tmp_path / "old.yaml").write_text("openapi: 3.1.0\n")
    assert run("openapi", "--out", "old.yaml", "--check").returncode == 1
    assert run("openapi", "--out", "old.yaml").returncode == 0
    assert run("openapi", "--out", "old.yaml", "--check").returncode == 0


BLOCK_NETWORK = """
import socket, sys
real = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX and not str(address[0]).startswith("127."):
        raise OSError("the network is down")
    return real(self, address)
socket.socket.connect = connect
def resolve(*a, **k):
    raise OSError("the network is down")
real_resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *a, **k: (
    real_resolve(host, *a, **k) if host in ("127.0.0.1", "localhost", None) else resolve()
)
"""


def test_starts_and_answers_offline_with_an_empty_home(tmp_path):  # ops-010
    (tmp_path / "site").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCK_NETWORK)
    log = (tmp_path / "log").open("w")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{ROOT}",
        "GROUNDKEEPER_PORT": "0",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "service"], cwd=tmp_path, env=environment, stderr=log
    )
    try:
        with httpx.Client(base_url=_address(tmp_path / "log"), timeout=60) as client:
            while client.get("/ready").status_code != 200:
                assert process.poll() is None
            asked = {"source": "I work as a nurse.", "fact": "The user works as a nurse."}
            assert client.post("/check", json=asked).status_code == 200
            fact = {"user_id": "bob", "fact": {"text": "I work as a nurse."}}
            assert client.post("/memory", json=fact).status_code == 201
            query = {"user_id": "bob", "query": "What does she work as?"}
            recalled = client.post("/recall", json=query)
            assert (recalled.status_code, recalled.json()["reason"]) == (200, "found")
            text = "An unmistakable sentence."
            client.post("/check", json={"source": text, "fact": text, "user_id": "ana"})
    finally:
        process.terminate()
        assert process.wait(60) in (0, -15)
        log.close()
    ours = ("data", "keys", "site", "log")
    files = [p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()]
    assert [p for p in files if p.parts[0] not in ours] == []
    logged = (tmp_path / "log").read_text()
    assert "unmistakable" not in logged
    assert all(json.loads(line) for line in logged.splitlines())


def _address(log: Path) -> str:
    import re
    import time

    for _ in range(600):
        found = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(log.read_text())

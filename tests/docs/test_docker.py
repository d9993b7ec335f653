"""What can be said about the container files without a Docker engine."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from service.settings import PREFIX, Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICE = COMPOSE["services"]["groundkeeper"]


def test_what_is_copied_is_there_and_not_ignored():
    allowed = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
        assert name in allowed, name


def test_runs_without_root_and_watches_itself():
    last = DOCKERFILE.split("FROM ")[-1]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "HEALTHCHECK" in last
    assert "curl" not in DOCKERFILE


def test_only_this_machine_can_connect():
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])
    assert SERVICE["read_only"] is True
    assert SERVICE["cap_drop"] == ["ALL"]


def test_data_and_keys_are_in_separate_volumes():
    places = dict(volume.split(":") for volume in SERVICE["volumes"])
    assert places == {"data": "/data", "keys": "/keys"}
    assert set(COMPOSE["volumes"]) == {"data", "keys"}
    for name, place in (("DATA_DIR", "/data"), ("KEY_DIR", "/keys")):
        assert f"{PREFIX}{name}={place}" in DOCKERFILE


def test_the_service_accepts_these_settings(monkeypatch):
    for name, value in SERVICE["environment"].items():
        assert name.startswith(PREFIX)
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:-(.*)\}", r"\1", value))
    monkeypatch.setenv(f"{PREFIX}DATA_DIR", "/data")
    monkeypatch.setenv(f"{PREFIX}KEY_DIR", "/keys")
    settings = Settings(_env_file=None)
    assert settings.allow_open
    assert not settings.is_loopback

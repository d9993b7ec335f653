"""What was erased is in no export and no report, and the export still verifies."""

from __future__ import annotations

import json

import pytest

from service import bootstrap
from service.adapters.exporting.wiring import export_to, report_on
from service.usecases.export_log import Wanted
from tests.conftest import make_settings, running

from .conftest import SAID, check
from .test_folder import run_script

DENIED = SAID[1]


@pytest.fixture(scope="module")
def erased(tmp_path_factory, parts):
    settings = make_settings(tmp_path_factory.mktemp("erased"))
    with running(settings, parts) as live:
        live.wait()
        with live.client() as client:
            for user in ("ana", "bob"):
                check(client, *DENIED, user_id=user)
            client.post("/memory", json={"user_id": "ana", "message": "I live in Lisbon."})
            asked = {"user_id": "ana", "all": True, "reason": "ticket 7"}
            plan = client.post("/erasures/plan", json=asked).json()
            confirmed = {"plan_sha256": plan["plan_sha256"], "allow_collateral": True}
            assert client.post("/erasures", json=confirmed).status_code == 201
    return settings


def test_the_export_verifies_without_the_texts(erased, tmp_path):
    place = bootstrap.installation(erased)
    export_to(place, tmp_path / "log", Wanted(bodies=True))
    key, _ = bootstrap.log_keys(erased)
    done = run_script(tmp_path / "log", key)
    assert done.returncode == 0, done.stdout
    bodies = (tmp_path / "log" / "bodies.ndjson").read_text(encoding="utf-8")
    assert "Lisbon" not in bodies
    owners = [json.loads(line)["seq"] for line in bodies.splitlines()]
    assert len(set(owners)) == 1  # only bob's check is left


def test_the_report_shows_only_what_is_left(erased):
    made, sound = report_on(bootstrap.installation(erased), "default", (None, None), "json")
    report = json.loads(made)
    assert sound
    assert "Lisbon" not in made.decode()
    blocked = report["blocked"]
    assert (blocked["total"], len(blocked["shown"]), blocked["without_text"]) == (2, 1, 1)
    assert report["erasures"]["total"] >= 1
    assert any("erasure" in said for said in report["summary"])

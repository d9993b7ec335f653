"""Keys, roles, tenants, host names and headers."""

from __future__ import annotations

import httpx
import pytest

from service.usecases.authenticate import Role, new_key

ASKED = {"source": "I work as a nurse.", "fact": "The user works as a nurse.", "user_id": "ana"}
KEYS = {
    name: new_key(tenant, role)
    for name, tenant, role in [
        ("reader", "acme", Role.READER),
        ("writer", "acme", Role.WRITER),
        ("admin", "acme", Role.ADMIN),
        ("other", "globex", Role.ADMIN),
    ]
}


@pytest.fixture
def guarded(start_server):
    live = start_server(api_keys=tuple(made for _, made in KEYS.values()))
    with live.client() as client:
        live.wait()
        yield client


def key(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name][0]}"}


def test_without_a_key_nothing_but_probes_and_pages(guarded):
    for path in ("/audit", "/audit/0", "/audit/verify", "/policies", "/metrics"):
        answer = guarded.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert guarded.post("/check", json=ASKED).status_code == 401
    for path in ("/health", "/ready", "/docs", "/openapi.json", "/"):
        assert guarded.get(path).status_code == 200, path


@pytest.mark.parametrize(
    "wrong",
    ["", "x", "gk_00000000_" + "a" * 43, KEYS["reader"][0][:-1] + "é", KEYS["reader"][1].digest],
)
def test_wrong_key(guarded, wrong):
    answer = guarded.get("/audit", headers={"X-API-Key": wrong.encode()})
    assert answer.status_code == 401
    assert KEYS["reader"][1].digest not in answer.text


def test_a_key_works_in_either_header(guarded):
    assert guarded.get("/audit", headers=key("reader")).status_code == 200
    assert guarded.get("/audit", headers={"X-API-Key": KEYS["reader"][0]}).status_code == 200


def test_roles(guarded):
    def post(path, who, body):
        return guarded.post(path, json=body, headers=key(who)).status_code

    assert post("/check", "reader", ASKED) == 403
    assert post("/check/batch", "reader", {"items": [ASKED]}) == 403
    assert post("/check", "writer", ASKED) == 200
    assert post("/policies", "writer", {"name": "mine"}) == 403
    assert post("/policies", "admin", {"name": "mine"}) == 201
    body = {"fingerprint": "default"}
    assert guarded.put("/policies/default", json=body, headers=key("writer")).status_code == 403


def test_a_foreign_tenant_sees_nothing(guarded):
    mine = guarded.post("/check", json=ASKED, headers=key("writer")).json()
    guarded.post("/policies", json={"name": "mine"}, headers=key("admin"))
    seq = mine["audit"]["seq"]
    assert guarded.get(f"/audit/{seq}", headers=key("reader")).status_code == 200
    foreign = guarded.get(f"/audit/{seq}", headers=key("other"))
    unknown = guarded.get("/audit/987654", headers=key("other"))
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["detail"] == unknown.json()["detail"]
    assert guarded.get("/audit", headers=key("other")).json()["total"] == 0
    assert guarded.get("/audit?user_id=ana", headers=key("other")).json()["items"] == []
    assert guarded.get("/policies/mine", headers=key("other")).status_code == 404
    assert guarded.get("/audit/0", headers=key("admin")).status_code == 404


def test_the_log_names_the_key_that_asked(guarded):
    body = guarded.post("/check", json=ASKED, headers=key("writer")).json()
    entry = guarded.get(f"/audit/{body['audit']['seq']}", headers=key("reader")).json()
    assert entry["actor"].endswith(KEYS["writer"][1].key_id)
    assert KEYS["writer"][0] not in str(entry)


def test_idempotency_keys_of_two_tenants_do_not_meet(guarded):
    same = {"Idempotency-Key": "one"}
    first = guarded.post("/check", json=ASKED, headers={**key("writer"), **same})
    second = guarded.post("/check", json={**ASKED, "fact": "x"}, headers={**key("other"), **same})
    assert (first.status_code, second.status_code) == (200, 200)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "["]
)
def test_without_keys_a_foreign_host_name_is_refused(client, host):
    assert client.get("/audit", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8000", "[::1]:8000"])
def test_loopback_names_are_answered(client, host):
    assert client.get("/health", headers={"Host": host}).status_code == 200


def test_named_hosts_are_answered(start_server):
    live = start_server(allowed_hosts=("groundkeeper",))
    with live.client(Host="groundkeeper:8000") as client:
        assert client.get("/health").status_code == 200


def test_no_cross_origin_access(client):
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    asked = client.options("/check", headers=headers)
    assert asked.status_code == 405
    assert not [h for h in asked.headers if h.startswith("access-control")]


def test_security_headers_on_every_answer(client: httpx.Client):
    for path in ("/", "/docs", "/health", "/nothing", "/static/dashboard.js"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert "unsafe-eval" not in headers["Content-Security-Policy"]
        assert "server" not in headers

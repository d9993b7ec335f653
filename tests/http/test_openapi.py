"""The description, the pages, and a machine trying everything that the description allows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CONTRACT = [
    ("post", "/check"),
    ("post", "/check/batch"),
    ("get", "/policies"),
    ("post", "/policies"),
    ("get", "/policies/{fingerprint}"),
    ("get", "/policies/diff"),
    ("put", "/policies/default"),
    ("get", "/audit"),
    ("get", "/audit/{seq}"),
    ("get", "/audit/verify"),
    ("get", "/health"),
    ("get", "/ready"),
    ("get", "/metrics"),
    ("post", "/adjudicate"),
    ("post", "/memory"),
    ("get", "/memories"),
    ("get", "/memories/history"),
    ("get", "/memories/drift"),
    ("get", "/memories/conflicts"),
    ("post", "/memories/conflicts"),
    ("post", "/memories/conflicts/{conflict_id}/resolve"),
    ("get", "/memory/{memory_id}"),
    ("delete", "/memory/{memory_id}"),
    ("get", "/memory/{memory_id}/history"),
    ("get", "/memory/{memory_id}/drift"),
    ("post", "/memory/{memory_id}/supersede"),
    ("post", "/memory/{memory_id}/retract"),
    ("post", "/memory/{memory_id}/restore"),
    ("get", "/attributes"),
    ("put", "/attributes/{attribute}"),
    ("get", "/turns/{turn_id}"),
    ("get", "/users/{user_id}/export"),
    ("get", "/reviews"),
    ("get", "/reviews/{review_id}"),
    ("post", "/reviews/{review_id}/approve"),
    ("post", "/reviews/{review_id}/reject"),
    ("post", "/lessons"),
    ("get", "/lessons"),
    ("post", "/erasures/plan"),
    ("post", "/erasures"),
    ("get", "/erasures/{erasure_id}"),
]
NEEDS_SOMETHING = ("{", "/memories/conflicts", "/erasures")


@pytest.fixture(scope="module")
def served(server):
    with server.client() as client:
        return client.get("/openapi.json").json()


def test_committed_description_is_the_served_one(served):
    committed = yaml.safe_load((ROOT / "openapi.yaml").read_text(encoding="utf-8"))
    assert committed == served


@pytest.mark.parametrize(("method", "path"), CONTRACT)
def test_path_is_described(served, method, path):
    operation = served["paths"][path][method]
    assert operation["summary"]
    assert operation["description"]


def test_every_body_has_an_example_that_works(served, client):
    for path, operations in served["paths"].items():
        for method, operation in operations.items():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                assert content["examples"], path
                if any(part in path for part in NEEDS_SOMETHING):
                    continue  # what these are about exists only in the tests of the resource
                for example in content["examples"].values():
                    answer = client.request(method, path, json=example["value"])
                    assert answer.status_code in (200, 201), answer.text


def test_every_error_is_described_as_a_problem(served):
    for path, operations in served["paths"].items():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if int(status) >= 400 and path != "/ready":
                    assert list(answer["content"]) == ["application/problem+json"]


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_load_nothing_from_elsewhere(client, path):
    page = client.get(path).text
    assert "<script>" not in page
    found = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert found
    for target in found:
        assert target.startswith("/")
        assert client.get(target).status_code == 200, target


def test_swagger_ui_is_served(client):
    script = client.get("/swagger/swagger-ui-bundle.js")
    assert script.status_code == 200
    assert len(script.content) > 500_000


@pytest.mark.slow
def test_nothing_that_the_description_allows_breaks_the_service(server):
    import requests
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error

    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    tried = []

    limits = settings(
        max_examples=25,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with requests.Session() as session:
        for result in schema.get_all_operations():
            operation = result.ok()

            @limits
            @given(case=operation.as_strategy())
            def run(case):
                case.call_and_validate(checks=[not_a_server_error], session=session)

            run()
            tried.append(operation.label)
    assert len(tried) >= len(CONTRACT)

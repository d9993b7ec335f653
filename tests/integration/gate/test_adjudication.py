"""Adjudication with the real models, on cases from public reports and on the seed's examples."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.bootstrap import Parts
from service.domain.adjudication import AdjudicationOutcome, AdjudicationVerdict, Relation
from service.domain.check import CheckInput
from service.domain.policy import Policy
from service.domain.verdicts import Speaker
from service.usecases.adjudicate import Adjudicator, Party
from service.usecases.gate import Gate

CASES = Path(__file__).parents[2] / "cases" / "adjudicate.jsonl"
Weigh = Callable[..., AdjudicationOutcome]


@pytest.fixture(scope="module")
def adjudicator(parts: Parts) -> Adjudicator:
    nli, embedder, language = parts.nli(), parts.embedder(), parts.language()
    gate = Gate(nli=nli, embedder=embedder, language=language)
    return Adjudicator(gate=gate, nli=nli, embedder=embedder, language=language)


@pytest.fixture(scope="module")
def weigh(adjudicator: Adjudicator) -> Weigh:
    def judge(old: Party, new: Party, functional: dict[str, bool] | None = None, **policy: Any):
        return adjudicator.judge([old], new, Policy(**policy), functional or {})[0]

    return judge


def moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def party(given: dict[str, Any]) -> Party:
    said = CheckInput(
        source=given["source"],
        fact=given["fact"],
        speaker=Speaker(given.get("speaker", "user")),
        observed_at=moment(given.get("observed_at")),
    )
    return Party(
        said,
        id=given.get("id"),
        authority=given.get("authority"),
        valid_from=moment(given.get("valid_from")),
        valid_to=moment(given.get("valid_to")),
    )


def said(source: str, fact: str, when: str | None = None, **more: Any) -> Party:
    return party({"source": source, "fact": fact, "observed_at": when, **more})


def is_right(case: dict[str, Any], outcome: AdjudicationOutcome) -> bool:
    expect = case["expect"]
    ids = [e.get("id") for e in case["request"]["existing"]]
    retired = [i for i, f in zip(ids, outcome.findings, strict=True) if not f.stays_active]
    active = [f.stays_active for f in outcome.findings]
    return (
        outcome.verdict.value in expect["verdict_in"]
        and expect.get("relation", outcome.findings[0].relation.value)
        == outcome.findings[0].relation.value
        and expect.get("existing_active", active) == active
        and expect.get("superseded_ids", retired) == retired
    )


def test_cases_from_public_reports(adjudicator: Adjudicator) -> None:
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    right = 0
    for case in cases:
        existing = [party(e) for e in case["request"]["existing"]]
        outcome = adjudicator.judge(existing, party(case["request"]["incoming"]), Policy(), {})[0]
        right += is_right(case, outcome)
        if case["expect"].get("existing_active") == [True]:
            assert outcome.findings[0].stays_active, case["id"]

    assert right / len(cases) >= 0.9


def test_a_hallucination_cannot_replace_an_allergy(weigh: Weigh) -> None:
    outcome = weigh(
        said("I am allergic to peanuts.", "The user is allergic to peanuts."),
        said("I had a great salad for lunch.", "The user loves eating peanuts."),
    )

    assert outcome.verdict is not AdjudicationVerdict.ACCEPT
    assert outcome.findings[0].stays_active


def test_a_genuine_move_replaces_the_old_home(weigh: Weigh) -> None:
    outcome = weigh(
        said("I live in Bangalore.", "The user lives in Bangalore.", "2025-01-01"),
        said("I moved to Chennai last week.", "The user lives in Chennai.", "2025-06-01"),
    )

    assert outcome.verdict is AdjudicationVerdict.ACCEPT
    assert outcome.findings[0].relation is Relation.SUPERSEDES


def test_somebody_elses_fact_replaces_nothing(weigh: Weigh) -> None:
    outcome = weigh(
        said("I am a teacher.", "The user is a teacher."),
        said("My brother is a lawyer.", "The user is a lawyer."),
    )

    assert outcome.verdict is not AdjudicationVerdict.ACCEPT
    assert outcome.findings[0].stays_active


def test_an_unrelated_fact_coexists(weigh: Weigh) -> None:
    outcome = weigh(
        said("I am allergic to peanuts.", "The user is allergic to peanuts."),
        said("I like tea.", "The user likes tea."),
    )

    assert outcome.verdict is AdjudicationVerdict.ACCEPT
    assert outcome.findings[0].relation is Relation.COEXISTS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("I like pizza.", "The user likes pizza."), ("I like sushi.", "The user likes sushi.")),
        (("I use Python.", "The user uses Python."), ("I also use Rust.", "The user uses Rust.")),
        (("I have a cat.", "The user has a cat."), ("I have a dog.", "The user has a dog.")),
    ],
)
def test_an_attribute_with_many_values_keeps_them(
    weigh: Weigh, old: tuple[str, str], new: tuple[str, str]
) -> None:
    outcome = weigh(said(*old, "2025-01-01"), said(*new, "2025-02-01"))

    assert outcome.findings[0].relation is Relation.COEXISTS
    assert outcome.findings[0].stays_active


def test_the_same_again_is_a_duplicate(weigh: Weigh) -> None:
    outcome = weigh(
        said("I live in Rome.", "The user lives in Rome.", "2025-01-01"),
        said("I live in Rome, you know.", "The user lives in Rome.", "2025-02-01"),
    )

    assert outcome.findings[0].relation is Relation.DUPLICATE


def test_older_evidence_does_not_replace_newer(weigh: Weigh) -> None:
    outcome = weigh(
        said("I live in Rome.", "The user lives in Rome.", "2025-06-01"),
        said("I live in Paris.", "The user lives in Paris.", "2024-01-01"),
    )

    assert outcome.verdict is AdjudicationVerdict.REVIEW
    assert outcome.reason_code == "not_new_evidence"


def test_lower_authority_is_blocked(weigh: Weigh) -> None:
    outcome = weigh(
        said("The rent is 900 euros.", "The rent is 900 euros.", "2025-01-01", authority="owner"),
        said("The rent is 800 euros.", "The rent is 800 euros.", "2025-02-01", authority="peer"),
    )

    assert outcome.verdict is AdjudicationVerdict.BLOCK
    assert outcome.reason_code == "lower_authority"


def test_a_tenant_can_declare_an_attribute_functional(weigh: Weigh) -> None:
    old = said("I use Python.", "The user uses Python.", "2025-01-01")
    new = said("I use Rust.", "The user uses Rust.", "2025-02-01")

    assert weigh(old, new).findings[0].relation is Relation.COEXISTS
    assert weigh(old, new, {"uses": True}).findings[0].relation is Relation.SUPERSEDES

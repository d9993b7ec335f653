"""A fact about "the user" takes the same form with and without a parse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.domain.facts import normalise_fact, settled_fact

CASES = Path(__file__).parents[2] / "cases"


def facts() -> list[tuple[str, str | None]]:
    found = []
    for name in ("check", "own", "hard", "seed18"):
        for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            asked = row.get("request") or row.get("input") or row
            if isinstance(asked.get("fact"), str):
                found.append((asked["fact"], asked.get("speaker_name")))
    return list(dict.fromkeys(found))


def test_it_is_the_form_that_a_parse_leads_to(language):
    settled = [(f, n, s) for f, n in facts() if (s := settled_fact(f, n)) is not None]
    assert len(settled) > 100
    parsed = language.parse([f for f, _, _ in settled])
    assert [s for _, _, s in settled] == [
        normalise_fact(p, n) for (_, n, _), p in zip(settled, parsed, strict=True)
    ]


@pytest.mark.parametrize(
    "fact", ["User's job: nurse", "I am a nurse.", "The user sold my car.", "lawyer", "She is ill."]
)
def test_where_a_parse_has_to_help_nothing_is_settled(fact):
    assert settled_fact(fact, None) is None

"""Rows written as the gate puts a claim to the entailment model, by the gate's own functions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from service.adapters.language.spacy_parser import SpacyParser
from service.domain.facts import normalise_fact
from service.domain.first_person import to_first_person
from service.domain.third_person import to_third_person
from service.modelkit.dataset import PREFIX, Row

NAMED = 0.3  # share of quotations that name the speaker
NAMES = ("Maya", "Jonas", "Priya", "Lena", "Carlos", "Yuki", "Amina", "Ben", "Elif", "Rosa")


def phrased(rows: Sequence[Row], seed: int) -> list[Row]:
    """Return each row in the gate's three phrasings: window, third person, quoted.

    A row's phrasings stay in the group of the row, so that validation has seen none of them.
    """
    order = random.Random(seed)  # noqa: S311 - a reproducible sample, not a secret
    parser = SpacyParser()
    premises = parser.parse([row.premise for row in rows])
    hypotheses = parser.parse([row.hypothesis for row in rows])
    facts = [normalise_fact(parsed, None) for parsed in hypotheses]
    claims = parser.parse([fact.parseable for fact in facts])
    found: list[Row] = []
    for row, premise, fact, claim in zip(rows, premises, facts, claims, strict=True):
        third = to_third_person(premise, 0, len(premise.text))
        own = to_first_person(claim, fact.name) or fact.hypothesis
        speaker = order.choice(NAMES) if order.random() < NAMED else "The user"
        group = row.group or row.premise
        found += [
            replace(row, premise=PREFIX + row.premise, hypothesis=fact.hypothesis, group=group),
            replace(row, premise=third, hypothesis=fact.hypothesis, group=group),
            replace(row, premise=f"{speaker} said: {row.premise}", hypothesis=own, group=group),
        ]
    return found

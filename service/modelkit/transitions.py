"""Rows about changes in a user's life, made from the scenarios in ``transitions_data``.

The entailment heads that we have are weakest where an event changes a state ("We sold up and left
Cork" and where the user lives). One sentence in eight is kept out of training with all its
fillings, so that validation asks for the pattern and not for the sentence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from service.modelkit.dataset import Row

DATA = Path(__file__).parent / "transitions_data"
SOURCE = "transitions"
LABELS = {"E": "entailment", "N": "neutral", "C": "contradiction"}
WRAPPED = 0.3  # share of premises with a sentence before or after
GENERIC = 0.2  # share of neutral rows whose statement is about something else
_SLOT = re.compile(r"\{(?P<article>a:)?(?P<kind>[a-z]+)(?P<second>2?)\}")
_ARTICLE = re.compile(r"^(?:an?|the) ")


@dataclass
class Scenario:
    """Things said, and the statements that they all bear on alike, by label."""

    said: list[str] = field(default_factory=list)
    facts: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Grammar:
    """The word lists by slot and the scenarios."""

    words: dict[str, list[str]] = field(default_factory=dict)
    scenarios: list[Scenario] = field(default_factory=list)


def read_grammar(folder: Path = DATA) -> Grammar:
    """Return what the files of a folder say, in the order of their names."""
    grammar = Grammar()
    for path in sorted(folder.glob("*.txt")):
        for block in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            _read_block(block, grammar)
    return grammar


def _read_block(block: str, grammar: Grammar) -> None:
    scenario = Scenario()
    for line in block.splitlines():
        sign, _, rest = line.partition(" ")
        if sign == "=":
            slot, _, listed = rest.partition(" ")
            split = ";" if ";" in listed else ","
            grammar.words[slot] = [word.strip() for word in listed.split(split)]
        elif sign == ">":
            scenario.said.append(rest)
        elif sign in LABELS:
            scenario.facts.setdefault(sign, []).append(rest)
    if scenario.said:
        grammar.scenarios.append(scenario)


def transition_rows(fillings: int, seed: int, folder: Path = DATA) -> list[Row]:
    """Return rows in an order that the seed fixes: each sentence ``fillings`` times a label."""
    grammar = read_grammar(folder)
    order = random.Random(seed)  # noqa: S311 - a reproducible sample, not a secret
    rows: list[Row] = []
    for scenario in grammar.scenarios:
        for said in scenario.said:
            for _ in range(fillings):
                rows += _filled(said, scenario, grammar, order)
    return list(dict.fromkeys(rows))


def _filled(said: str, scenario: Scenario, grammar: Grammar, order: random.Random) -> list[Row]:
    words = _draw(grammar, order)
    premise = _wrapped(_fill(said, words), grammar, order)
    rows: list[Row] = []
    for sign, facts in scenario.facts.items():
        fact = _fill(order.choice(facts), words)
        if sign == "N" and order.random() < GENERIC:
            fact = _about_something_else(said, grammar, order) or fact
        rows.append(Row(premise, fact, LABELS[sign], SOURCE, group=said))
    return rows


def _draw(grammar: Grammar, order: random.Random) -> Mapping[str, Sequence[str]]:
    return {slot: order.sample(words, 2) for slot, words in grammar.words.items()}


def _fill(template: str, words: Mapping[str, Sequence[str]]) -> str:
    def word(match: re.Match[str]) -> str:
        chosen = words[match["kind"]][1 if match["second"] else 0]
        if not match["article"] or _ARTICLE.match(chosen):
            return chosen
        return f"{'an' if chosen[0] in 'aeiouAEIOU' else 'a'} {chosen}"

    text = _SLOT.sub(word, template)
    return text[:1].upper() + text[1:]


def _wrapped(sentence: str, grammar: Grammar, order: random.Random) -> str:
    if order.random() >= WRAPPED:
        return sentence
    if order.random() < 0.5:  # noqa: PLR2004 - a coin
        return f"{order.choice(grammar.words['lead'])} {sentence}"
    return f"{sentence} {order.choice(grammar.words['tail'])}"


def _about_something_else(said: str, grammar: Grammar, order: random.Random) -> str | None:
    """Return a statement with no kind of word in common with what was said, or None."""
    template = order.choice(grammar.words["generic"])
    if _kinds(template) & _kinds(said):
        return None
    return _fill(template, _draw(grammar, order))


def _kinds(template: str) -> set[str]:
    return {match["kind"] for match in _SLOT.finditer(template)}

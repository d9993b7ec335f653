"""How far an erasure reaches: from what was asked to everything that holds the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from service.domain.erasure import Asked, ErasureMode
from service.domain.erasure_text import Statements, normal
from service.domain.errors import NotFound
from service.ports.erasure import HeldMemory, HeldTurn

T = TypeVar("T")
_Key = tuple[str, str, str, bool]


@dataclass(slots=True)
class Spread:
    """The memories and turns that go, by the part they play; each list is in stored order.

    ``said`` are the erased statements: the texts of targets and duplicates, their passages, and
    the turns that were asked for. The texts of collateral are not among them: nobody asked for
    those to be forgotten, so the same text elsewhere stays.
    """

    targets: list[HeldMemory] = field(default_factory=list)
    duplicates: list[HeldMemory] = field(default_factory=list)
    collateral: list[HeldMemory] = field(default_factory=list)
    turns: dict[str, HeldTurn] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    @property
    def gone(self) -> list[HeldMemory]:
        """Return every memory that goes."""
        return [*self.targets, *self.duplicates, *self.collateral]


def spread(
    asked: Asked, memories: Mapping[str, HeldMemory], turns: Mapping[str, HeldTurn]
) -> Spread:
    """Return what goes with what was asked; raises ``NotFound`` for an id that is not there."""
    found = Spread()
    if asked.mode is ErasureMode.MEMORIES:
        found.targets = [_there(memories, i, "memory") for i in dict.fromkeys(asked.ids)]
    else:
        named = {i: _there(turns, i, "turn") for i in asked.ids}
        found.targets = [m for m in memories.values() if m.turn_id in named]
        found.turns = dict(named)
        found.said = [t.text for t in named.values()]
    _repeat(found, memories, turns)
    _drag_along(found, memories, turns)
    return found


def _there(held: Mapping[str, T], wanted: str, what: str) -> T:
    if wanted not in held:
        raise NotFound(what)
    return held[wanted]


def _repeat(
    found: Spread, memories: Mapping[str, HeldMemory], turns: Mapping[str, HeldTurn]
) -> None:
    """Add what says the same in other words or places, until nothing more does."""
    gone = {m.id for m in found.targets}
    fresh = list(found.targets)
    keys: set[_Key] = set()
    while True:
        found.said += [text for m in fresh for text in (m.text, m.passage)]
        keys |= {_key(m) for m in fresh}
        statements = Statements(found.said)
        fresh = [
            m
            for m in memories.values()
            if m.id not in gone and (_key(m) in keys or statements.are(m.text))
        ]
        if not fresh:
            break
        found.duplicates += fresh
        gone |= {m.id for m in fresh}
    _take_turns(found, found.gone, turns)
    found.turns |= {t.id: t for t in turns.values() if statements.are_in(t.text)}


def _drag_along(
    found: Spread, memories: Mapping[str, HeldMemory], turns: Mapping[str, HeldTurn]
) -> None:
    """Add memories whose turn goes, or that hold an erased statement; their turns go too."""
    statements = Statements(found.said)
    gone = {m.id for m in found.gone}
    holding = [m for m in memories.values() if m.id not in gone and _holds(m, statements)]
    fresh = holding + [m for m in memories.values() if m.turn_id in found.turns]
    while fresh := [m for m in _once(fresh) if m.id not in gone]:
        found.collateral += fresh
        gone |= {m.id for m in fresh}
        _take_turns(found, fresh, turns)
        fresh = [m for m in memories.values() if m.turn_id in found.turns]


def _take_turns(
    found: Spread, memories: Iterable[HeldMemory], turns: Mapping[str, HeldTurn]
) -> None:
    named = dict.fromkeys(m.turn_id for m in memories if m.turn_id is not None)
    found.turns |= {turn_id: turns[turn_id] for turn_id in named if turn_id in turns}


def _once(memories: Iterable[HeldMemory]) -> list[HeldMemory]:
    return list({m.id: m for m in memories}.values())


def _key(memory: HeldMemory) -> _Key:
    subject, attribute, value, polarity = memory.key
    return subject, attribute, normal(value), polarity


def _holds(memory: HeldMemory, statements: Statements) -> bool:
    if statements.are_in(memory.text) or statements.are_in(memory.passage):
        return True
    return any(statements.are_in_json(_json(text)) for text in memory.more)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text

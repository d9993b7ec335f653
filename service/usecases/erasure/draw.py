"""Drawing up a plan from what there is of a user."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from service.domain.erasure import Asked, BodyRef, ErasureMode, ErasurePlan, Link
from service.domain.erasure_text import Statements, normal
from service.ports.erasure import HeldBody, HeldMemory, HeldStore, HeldText, HeldTurn
from service.ports.storage import Transaction
from service.usecases.erasure.spread import Spread, spread

_RESULT = "result"
_SOURCE = "source"
_FACT = "fact"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan, and the texts behind it, which are never stored.

    Attributes:
        texts: every text that goes, once each.
        said: the erased statements among them; collateral is not.
        forbidden: what may not come back, normalised, with when it was said last: the texts, apart
            from what stays elsewhere.
        values: what the erased facts say of their subjects.
        memories: the memories that go.
        turns: the texts of the turns that go, by id.
        copies: how many receipts of recalls and stored answers go now; there may be more by then.
    """

    plan: ErasurePlan
    texts: tuple[str, ...] = field(repr=False)
    said: tuple[str, ...] = field(repr=False)
    forbidden: tuple[tuple[str, datetime], ...] = field(repr=False)
    values: tuple[str, ...] = field(repr=False)
    memories: tuple[HeldMemory, ...] = field(repr=False)
    turns: dict[str, str] = field(repr=False)
    copies: dict[str, int]


def copies(held: HeldStore, plan: ErasurePlan, said: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what reading has left of what goes: receipts of recalls, and keys of answers."""
    statements = Statements(said)
    about = {*plan.named, *plan.turns}
    receipts = mentions(held.receipts(plan.subject_id), about, statements)
    return receipts, mentions(held.answers(plan.subject_id), about | {*receipts}, statements)


def draw(tx: Transaction, subject_id: str, asked: Asked) -> Drawn:
    """Return the plan for what was asked; raises ``NotFound`` for an id that is not there."""
    held = tx.erasure.held
    if asked.mode is ErasureMode.ALL:
        return _everything(held, subject_id)
    memories = {m.id: m for m in held.memories(subject_id)}
    turns = {t.id: t for t in held.turns(subject_id)}
    found = spread(asked, memories, turns)
    bodies, facts = _bodies(held.bodies(subject_id), found)
    statements = Statements([*found.said, *facts])
    gone = {m.id for m in found.gone}
    kept = [m for m in memories.values() if m.id not in gone]
    about = gone | found.turns.keys()
    plan = ErasurePlan(
        mode=asked.mode,
        subject_id=subject_id,
        state=held.state(subject_id),
        targets=_ids(found.targets),
        duplicates=_ids(found.duplicates),
        collateral=_ids(found.collateral),
        turns=tuple(found.turns),
        lineage=tuple(_links(kept, gone)),
        restated=_ids(m for m in kept if statements.are_in(m.reason)),
        reviews=_affected(held.reviews(subject_id), about, statements),
        conflicts=_affected(held.conflicts(subject_id), about, statements),
        lessons=_affected(held.lessons(subject_id), about, statements),
        events=tuple(
            int(e.id)
            for e in held.events(subject_id)
            if gone.isdisjoint(e.about) and any(map(statements.are_in, e.texts))
        ),
        bodies=bodies,
    )
    receipts, answers = copies(held, plan, found.said)
    left = {"receipts": len(receipts), "answers": len(answers)}
    return _drawn(plan, found, kept, left)


def mentions(held: Iterable[HeldText], about: set[str], statements: Statements) -> list[str]:
    """Return the ids of rows that are about something that goes, or hold a statement."""
    return [
        row.id
        for row in held
        if not about.isdisjoint(row.about) or any(map(statements.are_in, row.texts))
    ]


def _everything(held: HeldStore, subject_id: str) -> Drawn:
    memories, turns = held.memories(subject_id), held.turns(subject_id)
    counts = held.counts(subject_id)
    plan = ErasurePlan(
        mode=ErasureMode.ALL,
        subject_id=subject_id,
        state=held.state(subject_id),
        counts={k: v for k, v in counts.items() if k not in _COPIES},
    )
    said = [*(t for m in memories for t in (m.text, m.passage)), *(t.text for t in turns)]
    named = held.user_id(subject_id)
    return Drawn(
        plan=plan,
        texts=tuple(dict.fromkeys([*([named] if named else []), *said])),
        said=tuple(dict.fromkeys(said)),
        forbidden=_said_last(memories, turns),
        values=tuple(dict.fromkeys(m.key[2] for m in memories)),
        memories=tuple(memories),
        turns={t.id: t.text for t in turns},
        copies={name: counts[name] for name in _COPIES},
    )


_COPIES = frozenset({"receipts", "answers"})
"""Made by reading, not by writing: they come and go while a plan waits, and always go with it."""


def _drawn(
    plan: ErasurePlan, found: Spread, kept: Iterable[HeldMemory], left: dict[str, int]
) -> Drawn:
    asked_for = [*found.targets, *found.duplicates]
    said = dict.fromkeys(found.said)
    texts = said | dict.fromkeys(t.text for t in found.turns.values())
    texts |= dict.fromkeys(text for m in found.collateral for text in (m.text, m.passage))
    stays = Statements(text for m in kept for text in (m.text, m.passage))
    return Drawn(
        plan=plan,
        texts=tuple(texts),
        said=tuple(said),
        forbidden=tuple(
            (text, at)
            for text, at in _said_last(found.gone, found.turns.values())
            if not stays.are(text)
        ),
        values=tuple(dict.fromkeys(m.key[2] for m in asked_for)),
        memories=tuple(found.gone),
        turns={t.id: t.text for t in found.turns.values()},
        copies=left,
    )


def _said_last(
    memories: Iterable[HeldMemory], turns: Iterable[HeldTurn]
) -> tuple[tuple[str, datetime], ...]:
    """Return each statement, normalised, with the latest time at which it was said."""
    said = [(text, m.observed_at) for m in memories for text in (m.text, m.passage)]
    said += [(turn.text, turn.observed_at) for turn in turns]
    last: dict[str, datetime] = {}
    for text, at in said:
        plain = normal(text)
        last[plain] = max(at, last.get(plain, at))
    last.pop("", None)
    return tuple(last.items())


def _bodies(held: Iterable[HeldBody], found: Spread) -> tuple[tuple[BodyRef, ...], list[str]]:
    """Return the texts beside the log that go, and the facts that were checked against a turn.

    All texts of an entry go if it is about a memory that goes or its source is a turn that goes;
    of another entry, those that hold an erased statement or turn. The facts of collateral are not
    returned: nobody asked for those to be forgotten.
    """
    gone = {m.id for m in found.gone}
    decisions = {m.decision_id for m in found.gone} - {None}
    dragged = {m.id for m in found.collateral}
    whole = Statements(t.text for t in found.turns.values())
    statements = Statements([*found.said, *(t.text for t in found.turns.values())])
    refs: list[BodyRef] = []
    facts: list[str] = []
    for seq, group in groupby(held, key=lambda b: b.seq):
        texts = list(group)
        own = texts[0].first in gone or texts[0].decision_id in decisions
        if any(b.name == _SOURCE and b.text is not None and whole.are(b.text) for b in texts):
            own = True
            if texts[0].first not in dragged:
                facts += [b.text for b in texts if b.name == _FACT and b.text]
        names = tuple(sorted(b.name for b in texts if own or _holds(b, statements)))
        if names:
            refs.append(BodyRef(seq, texts[0].decision_id, names))
    return tuple(refs), facts


def _holds(body: HeldBody, statements: Statements) -> bool:
    if body.text is None:
        return False
    if body.name != _RESULT:
        return statements.are_in(body.text)
    try:
        return statements.are_in_json(json.loads(body.text))
    except ValueError:
        return statements.are_in(body.text)


def _affected(held: Iterable[HeldText], about: set[str], statements: Statements) -> tuple[str, ...]:
    return tuple(mentions(held, about, statements))


def _links(kept: Iterable[HeldMemory], gone: set[str]) -> Iterator[Link]:
    for memory in kept:
        if memory.replaced_by in gone:
            yield Link(memory.id, memory.status, "replaced_by", str(memory.replaced_by))
        for old in memory.supersedes:
            if old in gone:
                yield Link(memory.id, memory.status, "supersedes", old)


def _ids(memories: Iterable[HeldMemory]) -> tuple[str, ...]:
    return tuple(m.id for m in memories)

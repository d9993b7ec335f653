"""LoCoMo's observations: against their own turn, about the other speaker, against another turn."""

from __future__ import annotations

import re

from service.evaluation.conversations import Conversation, Observation, load_conversations
from service.evaluation.items import (
    NOT_STORE,
    STORE_ONLY,
    Item,
    Judged,
    asked,
    draw,
    judge_items,
    lot,
)
from service.evaluation.sections import (
    Bench,
    Section,
    Table,
    false_stores,
    group,
    tallies,
    tally_table,
)
from service.evaluation.tally import by_kind, percent, reasons

OWN, SWAPPED, OTHER = "own turn", "swapped speaker", "other turn"
_SIZE = 400


def locomo(bench: Bench) -> Section:
    """Score the gate on LoCoMo's observations."""
    judged = judge_items(bench.judge, locomo_items(bench))
    own = group(judged, OWN)
    return Section(
        title="LoCoMo observations",
        summary=tallies("LoCoMo", judged, (OWN, SWAPPED, OTHER)),
        tables=[
            tally_table("By source", by_kind(judged)),
            _kept_back(own),
            *false_stores("Swapped speaker", group(judged, SWAPPED)),
            *false_stores("Other turn", group(judged, OTHER)),
        ],
        notes=[
            "Observations were written by a model from whole sessions: some hold more than their "
            "turn says, so not all of `own turn` can be stored. What `other turn` stores may "
            "happen to be true of that turn as well: read the list."
        ],
    )


def locomo_items(bench: Bench) -> list[Item]:
    """Return the items of all three kinds for the same sample of observations."""
    pairs = [(c, o) for c in load_conversations(bench.data) for o in c.observations]
    chosen = draw(pairs, None if bench.full else _SIZE, "locomo")
    return [item for c, o in chosen for item in _items(c, o)]


def _items(conversation: Conversation, seen: Observation) -> list[Item]:
    items = [_item(seen, seen.text, seen.turn.text, OWN)]
    swapped = swap(seen.text, seen.about, conversation.other(seen.about))
    if swapped is not None:
        items.append(_item(seen, swapped, seen.turn.text, SWAPPED))
    others = [t for t in conversation.turns.values() if t.speaker == seen.about and t != seen.turn]
    if others:
        turn = others[lot(f"{seen.key} {seen.text}") % len(others)]
        items.append(_item(seen, seen.text, turn.text, OTHER))
    return items


def _item(seen: Observation, fact: str, source: str, kind: str) -> Item:
    allowed = STORE_ONLY if kind == OWN else NOT_STORE
    return Item(seen.key, asked(source, fact, seen.about, seen.turn.at), allowed, kind)


def swap(text: str, name: str, other: str) -> str | None:
    """Return a text about ``name`` as one about ``other``; ``None`` if that makes no swap."""
    whole = rf"\b{re.escape(name)}\b"
    if not re.search(whole, text) or re.search(rf"\b{re.escape(other)}\b", text):
        return None
    return re.sub(whole, other, text)


def _kept_back(own: list[Judged]) -> Table:
    kept = [j for j in own if not j.stored]
    rows = [(name, str(n), percent(n, len(own))) for name, n in reasons(kept)]
    return Table("What keeps own turns from being stored", ("reason", "n", "of all"), rows)

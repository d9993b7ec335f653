"""DECODE: chat partners whose last utterance contradicts what they said before.

The set marks the contradicting utterance but not the one that it contradicts, so the source is
everything that the same partner said before, as messages, and the fact is the last utterance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.domain.check import CheckInput, Message
from service.domain.verdicts import Speaker
from service.evaluation.data import read_lines
from service.evaluation.items import NOT_REJECT, NOT_STORE, Item, asked, draw, judge_items
from service.evaluation.sections import Bench, Section, Table, group, listing, tallies, tally_table
from service.evaluation.tally import by_kind, percent

FILE = "eval/decode_human_bot.jsonl.gz"
CONTRADICTING, CONTROL = "contradicting", "control"
_SIZE = 100


def decode(bench: Bench) -> Section:
    """Score the gate on utterances against earlier ones by the same speaker."""
    found = [item for row in read_lines(bench.data, FILE) if (item := utterances(row))]
    size = None if bench.full else _SIZE
    kinds = (CONTRADICTING, CONTROL)
    items = [i for k in kinds for i in draw([x for x in found if x.kind == k], size, f"decode {k}")]
    judged = judge_items(bench.judge, items)
    wrong = [j for j in group(judged, CONTRADICTING) if j.stored]
    counts = by_kind(judged)
    rows = [
        (kind, percent(t.stores, t.n), percent(t.rejects, t.n), percent(t.reviews, t.n))
        for kind, t in counts.items()
    ]
    return Section(
        title="DECODE: contradicting oneself",
        summary=tallies("DECODE", judged, kinds),
        tables=[
            tally_table("By kind", counts),
            Table("Verdicts", ("set", "STORE", "REJECT", "REVIEW"), rows),
            *listing(f"Contradicting, yet stored ({len(wrong)})", wrong),
        ],
        notes=[
            "Utterances are chat, with greetings and questions in them. Controls contradict "
            "nothing, but need not follow from anything either: STORE and REVIEW are both right."
        ],
    )


def utterances(row: Mapping[str, Any]) -> Item | None:
    """Return a dialogue's last utterance against its speaker's earlier ones, if there are any."""
    *before, last = row["turns"]
    mine = [t["text"] for t in before if t["agent_id"] == last["agent_id"] and t["text"].strip()]
    if not mine or not last["text"].strip():
        return None
    clean = asked("\n".join(mine), last["text"])
    said = tuple(Message(Speaker.USER, text) for text in clean.source.split("\n"))
    whole = CheckInput(source=clean.source, fact=clean.fact, messages=said)
    if row["is_contradiction"]:
        return Item(row["record_id"], whole, NOT_STORE, CONTRADICTING)
    return Item(row["record_id"], whole, NOT_REJECT, CONTROL)

"""LoCoMo's wrong answers, put in the place of the right ones.

A question and an answer are no statement, so the pairs are made from the observations: where one
rests on a turn that the question cites as evidence and holds the right answer word for word, the
answer is replaced by the published wrong one. The source is that turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.evaluation.conversations import Conversation, Observation, load_conversations
from service.evaluation.data import read_json
from service.evaluation.items import NOT_STORE, STORE_ONLY, Item, asked, draw, judge_items
from service.evaluation.sections import Bench, Section, false_stores, tallies, tally_table
from service.evaluation.tally import by_kind

FILE = "eval/locomo_wrong_answers_v1.json.gz"
ERRORS = "eval/locomo_errors.json.gz"
RIGHT, WRONG = "right answer", "wrong answer"
_SOURCES = {RIGHT: STORE_ONLY, WRONG: NOT_STORE}
_SIZE = 150  # pairs
_PLACE = re.compile(r"locomo_(\d+)_")


def wrong_answers(bench: Bench) -> Section:
    """Score the gate on observations that hold a right answer or, in its place, a wrong one."""
    judged = judge_items(bench.judge, wrong_answer_items(bench))
    return Section(
        title="LoCoMo wrong answers",
        summary=tallies("LoCoMo", judged, (RIGHT, WRONG)),
        tables=[tally_table("By answer", by_kind(judged)), *false_stores("Wrong answers", judged)],
        notes=[
            "Only the few questions count whose right answer stands word for word in an "
            "observation of a cited turn. Questions with published corrections are left out."
        ],
    )


def wrong_answer_items(bench: Bench) -> list[Item]:
    """Return a right and a wrong statement for every usable question."""
    conversations = load_conversations(bench.data)
    corrected = {row["question_id"] for row in read_json(bench.data, ERRORS)}
    answers = read_json(bench.data, FILE)["detailed_results"]
    rows = [row for group in answers.values() for row in group]
    usable = [row for row in rows if row["question_id"] not in corrected]
    pairs = [pair for row in usable for pair in _pairs(row, conversations)]
    chosen = draw(pairs, None if bench.full else _SIZE, "wrong answers")
    return list(_unique(item for pair in chosen for item in pair))


def _pairs(
    row: Mapping[str, Any], conversations: Sequence[Conversation]
) -> Iterator[tuple[Item, Item]]:
    place = _PLACE.match(row["question_id"])
    if place is None:
        return
    talk = conversations[int(place.group(1))]
    cited = talk.evidence.get(row["question"], frozenset())
    right, wrong = str(row["golden_answer"]), str(row["generated_answer"])
    for seen in talk.observations:
        replaced = replace_answer(seen.text, right, wrong) if seen.turn.key in cited else None
        if replaced is not None:
            key = row["question_id"]
            yield _item(key, seen, seen.text, RIGHT), _item(key, seen, replaced, WRONG)


def replace_answer(text: str, right: str, wrong: str) -> str | None:
    """Return a text with its answer replaced; ``None`` if it does not hold the answer."""
    whole = re.compile(rf"(?<!\w){re.escape(right.strip())}(?!\w)", re.IGNORECASE)
    if not right.strip() or right.lower() == wrong.lower() or not whole.search(text):
        return None
    return whole.sub(lambda _: wrong, text, count=1)


def _item(key: str, seen: Observation, fact: str, kind: str) -> Item:
    source = asked(seen.turn.text, fact, seen.about, seen.turn.at)
    return Item(key, source, _SOURCES[kind], kind)


def _unique(items: Iterator[Item]) -> Iterator[Item]:
    """Leave out what was asked before: one right statement may have several wrong ones."""
    known: set[tuple[str, str]] = set()
    for item in items:
        pair = (item.asked.source, item.asked.fact)
        if pair not in known:
            known.add(pair)
            yield item

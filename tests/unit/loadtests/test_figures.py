"""What the load tests compute from what they measure."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

LOADTESTS = Path(__file__).parents[3] / "loadtests"


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(LOADTESTS))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:  # their names are short, and could be others' too
        if LOADTESTS in Path(getattr(sys.modules[name], "__file__", None) or "/").parents:
            del sys.modules[name]


@pytest.mark.parametrize(
    ("share", "expected"), [(50, 5), (90, 9), (95, 10), (99, 10), (100, 10), (1, 1)]
)
def test_percentiles_are_values_that_were_measured(module, share, expected):
    report = module("report")
    assert report.percentile(sorted(range(1, 11)), share) == expected
    assert report.percentile([], share) == 0.0


def test_batches_hold_every_row_once_and_keep_to_both_limits(module):
    against = module("against_models")
    chance = np.random.default_rng(3)
    rows = [
        {name: np.full(length, n) for name in ("input_ids", "attention_mask")}
        for n, length in enumerate(chance.integers(4, 200, size=300))
    ]
    found = list(against.grouped(rows))
    assert sorted(int(r["input_ids"][0]) for part in found for r in part) == list(range(300))
    for part in found:
        width = max(len(r["input_ids"]) for r in part)
        assert len(part) <= against.BATCH_ROWS
        assert len(part) == 1 or width * len(part) <= against.BATCH_TOKENS


def test_padding_can_be_undone(module):
    against = module("against_models")
    rows = [
        {"input_ids": np.arange(1, n + 1), "attention_mask": np.ones(n, dtype=np.int64)}
        for n in (3, 7, 5)
    ]
    again = against.unpadded(against.padded(rows))
    for before, after in zip(rows, again, strict=True):
        np.testing.assert_array_equal(before["input_ids"], after["input_ids"])


@pytest.mark.parametrize(("mb_per_minute", "expected"), [(0.0, False), (2.0, True), (0.05, False)])
def test_memory_that_grows_is_told_from_memory_that_moves(module, mb_per_minute, expected):
    soak = module("soak")
    chance = np.random.default_rng(5)
    samples = [
        (minute, 600 + mb_per_minute * minute + chance.uniform(-3, 3))
        for minute in np.arange(5, 30, 0.05)
    ]
    found = soak.memory(samples)
    assert abs(found["mb_per_hour"] - 60 * mb_per_minute) <= found["margin_mb_per_hour"] * 2
    assert soak.grew(found) is expected


def test_no_text_comes_twice_and_every_fact_has_its_own_question(module):
    said = module("said")
    stock = said.facts(10_000)
    assert len({f.text for f in stock}) == len({f.key for f in stock}) == 10_000
    assert len({f.questions[0] for f in stock}) == 10_000
    known = {person for f in stock for person in f.person.split()}
    assert not known & set(said.STRANGERS)
    talk = said.Talk(1)
    asked = [talk.check() for _ in range(3_000)]
    assert len({(a["source"], a["fact"]) for a in asked}) == 3_000


def test_hits_are_judged_by_person_matter_and_value(module):
    against, said = module("against_peers"), module("said")
    fact = next(f for f in said.facts(1_000) if f.person.startswith("mother "))
    other = fact.text.replace("mother", "grandmother")
    hits = [fact.text, fact.said, f"mother --x--> y: {fact.text}", fact.wrong, other]
    assert against.judged(fact, hits) == [True, True, True, False, False]
    assert [against.named(fact, [hit]) for hit in hits] == [True, True, True, True, False]
    assert against.named(fact, [f"{fact.person} --x--> y: nothing"])
    assert not against.named(fact, [])


@pytest.mark.parametrize("size", [1_000, 10_000])
def test_every_matter_is_asked_about_in_both_forms(module, size):
    against, said = module("against_peers"), module("said")
    chosen = against.chosen(said.facts(size), size, 50)
    asked = {(fact.attribute, form) for fact, form in chosen}
    assert asked == {(row[0], form) for row in said.ROWS for form in (0, 1)}
    wanted = min(50, size // len(said.ROWS))
    assert len({fact.person for fact, _ in chosen}) == wanted


def test_nothing_is_sent_twice_under_load(module, tmp_path):
    load, said = module("load"), module("said")
    stock = said.facts(4 * load.EACH)
    users = {f"user{n}": stock[n * load.EACH : (n + 1) * load.EACH] for n in range(4)}
    load.write_stock(tmp_path / "said.json", users)
    kinds = json.loads((tmp_path / "said.json").read_text())
    kinds["check"] += [item for batch in kinds.pop("batch") for item in batch["items"]]
    for bodies in kinds.values():
        assert len({json.dumps(body) for body in bodies}) == len(bodies)


def test_every_failed_request_of_every_part_counts(module):
    load = module("load")
    runs = [{"entries": [{"failures": 9}, {"failures": n}]} for n in (2, 3)]  # the last is the sum
    assert load.failed({"runs": runs, "parallel": {"failed": 1}}) == 6


def test_a_target_is_met_for_one_kind_of_query_and_missed_for_another(module):
    said = module("bench_text").reached({"questions": 9.9, "restated": 10.0}, 10)
    assert said == "≥ 10: questions **missed**, restated met"

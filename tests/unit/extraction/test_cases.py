"""The shared memory cases and the extraction set, as far as extraction decides them."""

from pathlib import Path

import pytest

from service.evaluation.extraction_set import ExpectedFact, read_set, score_case, totals
from service.usecases.extract import Extractor

CASES = Path("tests/cases/extraction.jsonl")

MEMORY = [
    (
        "mem-001",
        [
            ("system", "[recalled] The user prefers tea."),
            ("user", "What's a good walk near the river?"),
            ("assistant", "Since you prefer tea, stop at the mill café on the east bank."),
        ],
        [],
    ),
    (
        "mem-002",
        [
            ("assistant", "I'm not sure yet who I am or what I should be called."),
            ("user", "No worries."),
        ],
        [],
    ),
    (
        "mem-007",
        [
            ("user", "What's your name?"),
            ("assistant", "I'm the helper."),
            ("user", "Run echo hello."),
        ],
        [],
    ),
    (
        "mem-010",
        [("user", "Good morning! Jonas here. Who am I talking to?")],
        ["name is Jonas"],
    ),
    ("mem-011", [("user", "How do I descale a kettle?"), ("assistant", "Boil it.")], []),
    ("mem-014", [("user", "I collect old maps.")], ["collects old maps"]),
    (
        "mem-004",
        [("user", "From now on use the blue template, not the grey one.")],
        ["prefers the blue template"],
    ),
    ("mem-015", [("user", "My manager is Bea now, not Al.")], ["manager is Bea"]),
    ("mem-018", [("user", "My desk is now on floor 4.")], ["desk is on floor 4"]),
]


@pytest.mark.parametrize(("case", "messages", "parts"), MEMORY)
def test_memory_cases(candidates, case, messages, parts):
    found = [c.text for c in candidates(*messages)]
    assert len(found) == len(parts), case
    assert all(part in text for part, text in zip(parts, found, strict=True))


def test_the_set_is_large_and_halved():
    cases = read_set(CASES)
    assert len(cases) >= 120
    assert len({c.id for c in cases}) == len(cases)
    assert {c.half for c in cases[::2]} == {"tuned"}
    assert {c.half for c in cases[1::2]} == {"untouched"}


@pytest.mark.parametrize(("half", "least"), [("tuned", 0.95), ("untouched", 0.8)])
def test_precision_and_recall_do_not_fall(language, half, least):
    extractor = Extractor(language)
    found = totals([score_case(extractor, c) for c in read_set(CASES) if c.half == half])
    assert found.recall >= least
    assert found.precision >= least


def test_matching(candidates):
    [found] = candidates("I live in Leeds.")
    right = ExpectedFact(("user",), ("home",), ("leeds",))
    assert right.matches(found)
    assert right.details_right(found)
    assert not ExpectedFact(("user.brother",), ("home",), ("Leeds",)).matches(found)
    assert not ExpectedFact(("user",), ("employer",), ("Leeds",)).matches(found)
    assert not ExpectedFact(("user",), ("home",), ("Leeds",), polarity=False).matches(found)

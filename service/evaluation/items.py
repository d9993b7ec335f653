"""What is put to the gate, what it answered, and how both meet."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, TypeVar

from service.domain.check import CheckInput, CheckOutcome
from service.domain.verdicts import Speaker, Verdict

CHUNK = 64
THREADS = 2  # while one chunk is parsed, the other is with the models
STORE_ONLY = frozenset({Verdict.STORE})
REVIEW_ONLY = frozenset({Verdict.REVIEW})
REJECT_ONLY = frozenset({Verdict.REJECT})
NOT_STORE = frozenset({Verdict.REVIEW, Verdict.REJECT})
NOT_REJECT = frozenset({Verdict.STORE, Verdict.REVIEW})

T = TypeVar("T")
Judge: TypeAlias = Callable[[Sequence[CheckInput]], list[CheckOutcome]]


@dataclass(frozen=True, slots=True)
class Item:
    """One input with the verdicts that are right for it.

    Attributes:
        key: what it is called in lists.
        asked: the input.
        allowed: the verdicts that are right.
        kind: what it tests, to count by.
        half: for cases that were split, whether the rules were shaped on this half.
    """

    key: str
    asked: CheckInput
    allowed: frozenset[Verdict]
    kind: str = ""
    half: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """One item with the gate's answer."""

    item: Item
    outcome: CheckOutcome

    @property
    def right(self) -> bool:
        """Return whether the verdict is one of those allowed."""
        return self.outcome.verdict in self.item.allowed

    @property
    def stored(self) -> bool:
        """Return whether the gate let the fact pass."""
        return self.outcome.verdict is Verdict.STORE


def judge_items(judge: Judge, items: Sequence[Item], chunk: int = CHUNK) -> list[Judged]:
    """Return every item with its outcome, in order, asked for in chunks."""
    parts = [items[start : start + chunk] for start in range(0, len(items), chunk)]
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda part: judge([item.asked for item in part]), parts))
    outcomes = [outcome for answer in answers for outcome in answer]
    return [Judged(item, outcome) for item, outcome in zip(items, outcomes, strict=True)]


def asked(
    source: str,
    fact: str,
    speaker_name: str | None = None,
    observed_at: datetime | None = None,
) -> CheckInput:
    """Return what is asked about something that a user said, as the service would clean it."""
    return CheckInput(
        source=unicodedata.normalize("NFC", source),
        fact=unicodedata.normalize("NFC", fact).strip(),
        speaker=Speaker.USER,
        speaker_name=speaker_name,
        observed_at=observed_at,
    )


def draw(rows: Sequence[T], size: int | None, seed: str) -> list[T]:
    """Return ``size`` of the rows in their order, always the same for a seed; all for ``None``.

    The choice follows a hash of seed and position, so that it does not depend on a Python version.
    """
    if size is None or size >= len(rows):
        return list(rows)
    positions = sorted(range(len(rows)), key=lambda i: lot(f"{seed}:{i}"))[:size]
    return [rows[i] for i in sorted(positions)]


def lot(text: str) -> int:
    """Return a large number that depends only on the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

"""What a recall comes to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service.domain.memory import Lesson, Memory
from service.domain.recall.scoring import Scored


class RecallReason(StrEnum):
    """Why an answer is what it is; reported to the client."""

    FOUND = "found"
    NOTHING_ABOVE_THRESHOLD = "nothing_above_threshold"
    NOTHING_STORED = "nothing_stored"
    SCOPE_UNKNOWN = "scope_unknown"
    UNSUPPORTED_LANGUAGE = "unsupported_language"


LESSON: Final = "lesson"
"""The type under which lessons are asked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer: a memory as it was at the time asked about, or a lesson."""

    scored: Scored
    memory: Memory | None
    lesson: Lesson | None = None
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answers, best first, or why there are none; ``best_score`` is that of the best seen."""

    reason: RecallReason
    hits: tuple[Hit, ...] = ()
    best_score: float | None = None

    @property
    def abstained(self) -> bool:
        """Return whether there is no answer."""
        return not self.hits

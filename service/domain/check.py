"""What a check is asked and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from service.domain.verdicts import ReasonCode, Speaker, Verdict


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation that serves as a source."""

    role: Speaker
    content: str
    timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class CheckInput:
    """A fact and the text that should justify it; all text is NFC.

    Attributes:
        source: the text; with ``messages`` their contents joined by a newline, in order.
        fact: the statement to check.
        speaker: who said ``source``; with ``messages`` each has its own role.
        speaker_name: what the speaker is called, so that "Alice is …" is about her.
        observed_at: when it was said; relative dates count from there.
        messages: the turns, when the source is a conversation.
    """

    source: str
    fact: str
    speaker: Speaker = Speaker.USER
    speaker_name: str | None = None
    observed_at: datetime | None = None
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The span of the source that a verdict rests on: ``source[start:end] == text``.

    Offsets are code points; ``sentence`` is the whole sentence around the span.
    """

    text: str
    start: int
    end: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Scores:
    """Raw model outputs, each 0–1.

    ``entailment``, ``neutral`` and ``contradiction`` are those of the pair that decided;
    ``faithfulness`` is the entailment on which most phrasings agree (their lower median);
    ``relatedness`` is the cosine of fact and evidence, mapped from −1–1 to 0–1; ``toxicity`` is
    only there when a toxicity model is configured.
    """

    entailment: float
    neutral: float
    contradiction: float
    faithfulness: float
    relatedness: float
    toxicity: float | None = None


SignalValue: TypeAlias = (
    "str | int | float | bool | list[SignalValue] | dict[str, SignalValue] | None"
)


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """A verdict with everything it rests on."""

    verdict: Verdict
    reason_code: ReasonCode
    reason: str
    evidence: Evidence | None
    scores: Scores
    signals: Mapping[str, SignalValue] = field(default_factory=dict)

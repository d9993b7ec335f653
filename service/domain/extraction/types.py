"""What extraction finds in a message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.memory import MemoryType, Triple


class SkipReason(StrEnum):
    """Why a passage of a message yields no memory; reported to the client as it is."""

    SMALL_TALK = "small_talk"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    QUOTATION = "quotation"
    REPORTED = "reported"
    INSTRUCTION = "instruction"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    RECALLED = "recalled"
    SECRET = "secret"  # noqa: S105 - a reason, not a password
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    EPHEMERAL = "ephemeral"
    NO_FACT = "no_fact"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that a message seems to state, before the gate has seen it.

    Attributes:
        text: the fact in the third person ("The user uses Arch Linux.").
        triple: its subject, attribute and value; ``polarity`` False for what does not hold.
        type: what kind of memory it would be.
        importance: 0–1, by the rule in ``importance_of``.
        start: code-point offset of the supporting clause in the message.
        end: offset behind it.
        retracts: the message says that the triple no longer holds ("I no longer use Arch").
        correction: the message says that it corrects something ("actually", "now", "moved to").
        replaced_value: what it says is replaced, where named ("Bea now, not Al").
        valid_from: since when it holds, where said or when the change happened.
        valid_to: until when it held, where said.
    """

    text: str
    triple: Triple
    type: MemoryType
    importance: float
    start: int
    end: int
    retracts: bool = False
    correction: bool = False
    replaced_value: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A passage that was considered and not kept, with the reason."""

    text: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything that was found in one message."""

    candidates: tuple[Candidate, ...]
    skipped: tuple[Skipped, ...]

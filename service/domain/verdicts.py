"""The closed sets of outcomes that a check can have."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What to do with a fact."""

    STORE = "STORE"
    REJECT = "REJECT"
    REVIEW = "REVIEW"


class ReasonCode(StrEnum):
    """Why, as one of a closed set."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NUMBER_MISMATCH = "number_mismatch"
    DATE_MISMATCH = "date_mismatch"
    UNIT_MISMATCH = "unit_mismatch"
    TENSE_MISMATCH = "tense_mismatch"
    MISATTRIBUTED = "misattributed"
    UNRELATED = "unrelated"
    UNSUPPORTED = "unsupported"
    PARTIALLY_SUPPORTED = "partially_supported"
    QUESTION_OR_HYPOTHETICAL = "question_or_hypothetical"
    QUOTED_OR_REPORTED = "quoted_or_reported"
    NOT_THE_SPEAKER = "not_the_speaker"
    INSTRUCTION = "instruction"
    SECRET = "secret"  # noqa: S105 - a reason code, not a password
    TOXIC = "toxic"
    UNSUPPORTED_LANGUAGE = "unsupported_language"


class Speaker(StrEnum):
    """Who said a source."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"
    OTHER = "other"


class GuardAction(StrEnum):
    """What a policy lets a guard do."""

    REVIEW = "review"
    REJECT = "reject"
    OFF = "off"


CONTRADICTION_KINDS: frozenset[ReasonCode] = frozenset(
    {
        ReasonCode.CONTRADICTED,
        ReasonCode.NUMBER_MISMATCH,
        ReasonCode.DATE_MISMATCH,
        ReasonCode.UNIT_MISMATCH,
        ReasonCode.TENSE_MISMATCH,
    }
)
"""Reasons that say the source states something else."""

REJECTABLE_GUARDS: frozenset[ReasonCode] = frozenset(
    {ReasonCode.SECRET, ReasonCode.TOXIC, ReasonCode.INSTRUCTION}
)
"""Reasons that a policy may turn into a REJECT although the source does not say otherwise."""

"""Reason codes and kinds of entry in the words of somebody who did not build this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "supported": "The source states the fact.",
    "contradicted": "The source states the opposite.",
    "number_mismatch": "The fact and its source give different numbers.",
    "date_mismatch": "The fact and its source give different dates.",
    "unit_mismatch": "The fact and its source give a quantity in units that do not agree.",
    "tense_mismatch": "The source says that it was so and no longer is, or not yet.",
    "misattributed": "The source says it of somebody else than the fact does.",
    "unrelated": "The source is about something else.",
    "unsupported": "The source neither states the fact nor denies it.",
    "partially_supported": "The source states only a part of the fact.",
    "question_or_hypothetical": "The source asks, plans or imagines it; it does not state it.",
    "quoted_or_reported": "In the source, these are somebody else's words.",
    "not_the_speaker": "It was not the user who said it.",
    "instruction": "The text gives orders to its reader instead of stating a fact.",
    "secret": "The text holds a credential or an identity number.",
    "toxic": "The text is toxic.",
    "unsupported_language": "The text is in a language that is not checked.",
    "update": "A newer statement about the same thing replaces the older one.",
    "duplicate": "It says what is known already.",
    "coexists": "It is about something else than what is known, so both can hold.",
    "incoming_unsupported": "The newer statement is not supported by its own source.",
    "weaker_evidence": "The newer statement has clearly weaker evidence than what is known.",
    "lower_authority": "Somebody with less say would overrule somebody with more.",
    "not_new_evidence": "The newer statement repeats old evidence; it is not news.",
    "disjoint_intervals": "The two statements are about different times, so both can hold.",
}
"""One sentence for each reason code."""


def meaning(code: str) -> str:
    """Return what a reason code means; an unknown one is named as what it is."""
    return MEANINGS.get(code, "A reason that this version of the service does not know.")

"""Clauses of a parsed text: who each is about, and what it commits its speaker to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from service.domain.holders import UNKNOWN_HOLDER, Holder


class SpeechAct(StrEnum):
    """What the speaker does with a clause."""

    ASSERTION = "assertion"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    PLAN = "plan"
    IMPERATIVE = "imperative"
    QUOTATION = "quotation"
    REPORTED = "reported"


class Tense(StrEnum):
    """When a clause says its state or event holds."""

    PAST_HABIT = "past_habit"
    PAST = "past"
    PERFECT = "perfect"
    PRESENT = "present"
    FUTURE = "future"
    MODAL = "modal"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Clause:
    """One predicate with its arguments.

    Attributes:
        sentence: index of the sentence it stands in.
        start: code-point offset of its first token.
        end: code-point offset behind its last token.
        predicate: token index of its head.
        lemma: lemma of the main predicate ("be lawyer" gives "lawyer" in ``complement``).
        complement: lemma of a copula's complement, or empty.
        holder: whom or what the predicate is about.
        speaker_affected: the speaker is an object of the predicate ("diagnosed me").
        act: what the speaker commits to.
        attributed_to: whose claim it is when it is reported or quoted.
        negative: an odd number of negations.
        ended: the state is said to have ended ("no longer", "stopped", "used to").
        tense: when it holds.
        content: lemmas of its content words.
        owned_by_others: lemmas of things that it says are somebody else's ("her plants").
        tokens: indices of its tokens.
    """

    sentence: int
    start: int
    end: int
    predicate: int
    lemma: str
    complement: str = ""
    holder: Holder = UNKNOWN_HOLDER
    speaker_affected: bool = False
    act: SpeechAct = SpeechAct.ASSERTION
    attributed_to: Holder | None = None
    negative: bool = False
    ended: bool = False
    tense: Tense = Tense.NONE
    content: frozenset[str] = field(default_factory=frozenset)
    owned_by_others: frozenset[str] = field(default_factory=frozenset)
    tokens: tuple[int, ...] = ()

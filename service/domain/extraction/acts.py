"""Why a passage yields no memory."""

from __future__ import annotations

from service.domain.clauses import SpeechAct, Tense
from service.domain.extraction.lexicon import (
    MENTAL_VERBS,
    PASSING_NOUNS,
    PASSING_PLACES,
    PASSING_STATES,
    PASSING_TIMES,
    PASSING_VERBS,
    WEATHER,
)
from service.domain.extraction.passage import Passage
from service.domain.extraction.types import SkipReason
from service.domain.holders import HolderKind
from service.domain.lexicon.verbs import BELIEF, REPORTING
from service.domain.syntax import Token

_BY_ACT = {
    SpeechAct.QUESTION: SkipReason.QUESTION,
    SpeechAct.HYPOTHETICAL: SkipReason.HYPOTHETICAL,
    SpeechAct.QUOTATION: SkipReason.QUOTATION,
    SpeechAct.REPORTED: SkipReason.REPORTED,
    SpeechAct.IMPERATIVE: SkipReason.INSTRUCTION,
}
_GUESSES = frozenset("think guess suppose believe bet wish hope imagine dream pretend".split())
_FEELINGS = frozenset(
    "excited glad happy sad sorry thankful grateful curious worried nervous relieved upset".split()
)
_THANKS = frozenset({"appreciate", "thank"})
_SAYING = frozenset(
    "say tell claim mention explain announce argue insist suggest reckon swear admit deny remark "
    "reply".split()
)
_QUOTES = frozenset("\"“”«»'‘’„")


def skip_reason(passage: Passage) -> SkipReason | None:
    """Return why a passage cannot become a memory, or None if it may."""
    clause = passage.clause
    if clause.act in _BY_ACT:
        return _BY_ACT[clause.act]
    if _reports(passage):
        quoted = any(t.text in _QUOTES and t.pos == "PUNCT" for t in passage.tokens)
        return SkipReason.QUOTATION if quoted else SkipReason.REPORTED
    if _believes(passage):
        return SkipReason.REPORTED
    if clause.holder.kind is HolderKind.ADDRESSEE:
        return SkipReason.NO_FACT
    mental = _mental(passage)
    if mental is not None:
        return mental
    if _passes(passage):
        return SkipReason.EPHEMERAL
    return SkipReason.NO_FACT if _is_general(passage) or _is_embedded(passage) else None


def _reports(passage: Passage) -> bool:
    if passage.head.lemma not in REPORTING:
        return False
    quoted = any(t.text in _QUOTES and t.pos == "PUNCT" for t in passage.tokens)
    return passage.head.lemma in _SAYING or quoted or bool(_claims(passage))


def _believes(passage: Passage) -> bool:
    """Return whether somebody else's belief is told: "my wife thinks …"."""
    other = passage.clause.holder.kind is not HolderKind.SPEAKER
    return other and passage.head.lemma in BELIEF and bool(_claims(passage))


def _claims(passage: Passage) -> tuple[Token, ...]:
    return passage.parsed.dependents(passage.head, "ccomp")


def _is_embedded(passage: Passage) -> bool:
    """Return whether a passage is the rest of an indirect question: "… and where I want to be"."""
    words = [t for t in passage.tokens if t.pos not in ("CCONJ", "PUNCT")]
    return bool(words) and words[0].tag in ("WRB", "WP", "WDT")


def _is_general(passage: Passage) -> bool:
    """Return whether a passage only says how things are in general: "music brings joy".

    Its subject is neither a name nor a certain thing, and it holds no name, number, date or word
    for the speaker.
    """
    if passage.clause.holder.kind is not HolderKind.THING:
        return False
    parsed = passage.parsed
    subjects = _subjects(passage)
    certain = any(parsed.dependents(s, "det", "poss", "nummod", "compound") for s in subjects)
    told = any(t.pos in ("PROPN", "NUM") or t.entity for t in passage.tokens)
    mine = any(passage.view.is_speaker(t) for t in passage.tokens)
    return bool(subjects) and not (certain or told or mine)


def _mental(passage: Passage) -> SkipReason | None:
    """Return the reason for "I think that …" and "I see", which state nothing of their own."""
    clause, head = passage.clause, passage.head
    if clause.holder.kind is not HolderKind.SPEAKER or head.lemma not in MENTAL_VERBS | _GUESSES:
        return None
    objects = passage.parsed.dependents(head, "dobj")
    if head.lemma not in _THANKS and any(t.pos in ("NOUN", "PROPN") for t in objects):
        return None
    if clause.act is SpeechAct.PLAN or passage.parsed.dependents(head, "xcomp"):
        return None
    return SkipReason.HYPOTHETICAL if head.lemma in _GUESSES else SkipReason.NO_FACT


def _passes(passage: Passage) -> bool:
    """Return whether a passage tells of a state that will soon be over."""
    clause, head = passage.clause, passage.head
    weather = any(t.lemma in WEATHER for t in passage.tokens)
    if weather and any(t.lower == "it" for t in _subjects(passage)):
        return True
    if clause.holder.kind is not HolderKind.SPEAKER or clause.tense is not Tense.PRESENT:
        return False
    parsed = passage.parsed
    progressive = head.tag == "VBG"
    if (head.lemma == "be" or progressive) and _right_now(passage.tokens):
        return True
    if head.lemma == "be":
        return _passing_complement(passage)
    if head.lemma in ("have", "feel"):
        objects = parsed.dependents(head, "dobj", "acomp")
        return any(t.lemma in PASSING_NOUNS | PASSING_STATES for t in objects)
    return progressive and head.lemma in PASSING_VERBS and clause.act is not SpeechAct.PLAN


def _passing_complement(passage: Passage) -> bool:
    parsed, head = passage.parsed, passage.head
    for said in parsed.dependents(head, "acomp", "attr", "advmod"):
        if said.lower in _FEELINGS and parsed.dependents(said, "xcomp", "ccomp"):
            return True
        if said.lower in PASSING_STATES and not parsed.dependents(said, "prep", "xcomp"):
            return said.dep != "advmod" or not parsed.dependents(head, "acomp", "attr", "prep")
    for prep in parsed.dependents(head, "prep"):
        for place in parsed.dependents(prep, "pobj"):
            if place.lemma in PASSING_PLACES:
                return True
    return False


def _right_now(tokens: tuple[Token, ...]) -> bool:
    words = [t.lower for t in tokens]
    for place, word in enumerate(words):
        if word in PASSING_TIMES - {"now", "moment", "currently"}:
            return True
        if word == "now" and place and words[place - 1] == "right":
            return True
    return False


def _subjects(passage: Passage) -> tuple[Token, ...]:
    return passage.parsed.dependents(passage.head, "nsubj", "nsubjpass", "expl")

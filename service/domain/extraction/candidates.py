"""From a relation and its sentence to a candidate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.clauses import Clause, Tense
from service.domain.extraction.cues import has_cue
from service.domain.extraction.dating import dated_value
from service.domain.extraction.kinds import importance_of, type_of
from service.domain.extraction.passage import Passage
from service.domain.extraction.relation import Relation
from service.domain.extraction.types import Candidate
from service.domain.extraction.validity import validity_of
from service.domain.memory import MemoryType, Triple
from service.domain.subjects import Perspective
from service.domain.syntax import ParsedText, Token
from service.domain.values import Value


@dataclass(frozen=True)
class ReadMessage:
    """A message of the user's, parsed.

    ``observed_at`` is when it was said; ``values`` are resolved against that.
    """

    parsed: ParsedText
    clauses: tuple[Clause, ...]
    values: tuple[Value, ...]
    perspective: Perspective
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Said:
    """One relation with the sentence for it and where it stands."""

    relation: Relation
    text: str
    tokens: Sequence[Token]
    planned: bool = False
    standing: bool = False
    passage: Passage | None = None

    @property
    def tense(self) -> Tense:
        """Return when it is said to hold."""
        return Tense.NONE if self.passage is None else self.passage.clause.tense


_ADDED = re.compile(r",?\s+(?:too|as well)(?=[.!]?$)", re.IGNORECASE)
"""What a fact only says beside another one."""


def as_candidate(message: ReadMessage, said: Said, sentence: str) -> Candidate:
    """Return a candidate with its type, importance, dates and cues.

    ``sentence`` is the text around it, where a correction cue may stand.
    """
    relation = replace(said.relation, value=dated_value(said.relation.value, message.values))
    lemmas = frozenset(t.lemma for t in said.tokens)
    kind = MemoryType.PREFERENCE if said.standing else _type(said, lemmas)
    ahead = said.tense in (Tense.PRESENT, Tense.FUTURE, Tense.MODAL) and not relation.ended
    since, until = validity_of(
        message.parsed, relation, said.tokens, message.values, message.observed_at, ahead=ahead
    )
    changes = relation.changed or relation.replaced is not None
    start, end = _span(said.tokens)
    return Candidate(
        text=_ADDED.sub("", said.text),
        triple=Triple(
            relation.subject, relation.attribute, relation.value, polarity=not relation.negative
        ),
        type=kind,
        importance=importance_of(relation, kind, lemmas),
        start=start,
        end=end,
        retracts=relation.ended,
        correction=changes or (not said.standing and has_cue(sentence)),
        replaced_value=relation.replaced,
        valid_from=None if said.planned else since,
        valid_to=None if said.planned else until,
    )


def _type(said: Said, lemmas: frozenset[str]) -> MemoryType:
    progressive = said.passage is not None and said.passage.head.tag == "VBG"
    dated = progressive and any(t.entity == "DATE" for t in said.tokens)
    past = said.tense is Tense.PAST or dated
    return type_of(said.relation, planned=said.planned, past=past, lemmas=lemmas)


def _span(tokens: Sequence[Token]) -> tuple[int, int]:
    words = list(tokens)
    while len(words) > 1 and words[0].pos in ("CCONJ", "PUNCT", "SPACE"):
        words.pop(0)
    while len(words) > 1 and words[-1].pos in ("CCONJ", "SPACE"):
        words.pop()
    return words[0].start, words[-1].end

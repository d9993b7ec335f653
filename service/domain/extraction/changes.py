"""Values that were said to have changed: "the deadline moved to May 2"."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.extraction.copulas import (
    Complement,
    thing_topic,
)
from service.domain.extraction.lexicon import (
    CHANGE_VERBS,
)
from service.domain.extraction.passage import Passage
from service.domain.extraction.phrases import (
    value_of,
)
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import (
    owner_of,
)
from service.domain.lexicon.people import is_animate
from service.domain.syntax import ParsedText, Token

_TIMES = frozenset({"DATE", "TIME"})


def changed_value(passage: Passage, subject: Token | None, verb: Token) -> Relation | None:
    """Return the new value of a thing whose value changed: "the deadline moved to May 2"."""
    parsed = passage.parsed
    if subject is None or verb.lemma not in CHANGE_VERBS:
        return None
    if subject.lower in ("i", "we"):
        return _changed_by_speaker(passage, verb)
    if is_animate(subject.lemma) or subject.entity == "PERSON" or subject.pos == "PRON":
        return None
    for prep in parsed.dependents(verb, "prep"):
        for goal in parsed.dependents(prep, "pobj"):
            if prep.lower == "to":
                said = Complement(goal, "on" if goal.entity in _TIMES else "")
                topic, attribute = thing_topic(parsed, subject, said, passage.view)
                if topic is None:
                    return None
                value = value_of(parsed, goal)
                if attribute == "name":  # it moved to a place
                    return Relation(topic, "location", value, focus=goal)
                return Relation(topic, attribute, value, focus=goal, changed=True)
    return None


def _changed_by_speaker(passage: Passage, verb: Token) -> Relation | None:
    """Return the new value of "I changed my name to Robin"."""
    parsed = passage.parsed
    things = [t for t in parsed.dependents(verb, "dobj") if owner_of(parsed, t) is not None]
    for prep in (p for p in _preps(parsed, [verb, *things]) if p.lower == "to"):
        for goal in parsed.dependents(prep, "pobj") if things else ():
            said = Complement(goal, "on" if goal.entity in _TIMES else "")
            topic, attribute = thing_topic(parsed, things[0], said, passage.view)
            if topic is not None:
                return Relation(topic, attribute, value_of(parsed, goal))
    return None


def _preps(parsed: ParsedText, heads: Sequence[Token]) -> list[Token]:
    return [p for head in heads for p in parsed.dependents(head, "prep")]

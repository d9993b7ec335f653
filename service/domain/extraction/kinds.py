"""What type a memory is, and how much it matters.

Importance, from most to least:

=====  ==================================================================
0.9    allergies and medical constraints
0.85   deadlines
0.8    what must not be: "cannot eat", "is not allowed"
0.7    standing instructions, defaults and favourites; goals; names
0.65   other preferences
0.6    home, employer, occupation, family and project details; dated events
0.5    everything else
=====  ==================================================================
"""

from __future__ import annotations

from collections.abc import Collection

from service.domain.extraction.lexicon import (
    CONSTRAINT_WORDS,
    EVENT_NOUNS,
    EVENT_VERBS,
    PROJECT_NOUNS,
)
from service.domain.extraction.relation import Relation
from service.domain.memory import MemoryType

_PREFERENCES = frozenset({"likes", "prefers", "fears"})
_PREFERENCE_PREFIXES = ("favourite_", "default_", "preferred_", "go_to_")
_MAJOR = frozenset(
    "home employer occupation marital_status birthplace age birthday nationality manager "
    "spouse wife husband partner diet os".split()
)
_HARD = frozenset("can can't cannot must mustn't not-allowed allow".split())


def type_of(
    relation: Relation, *, planned: bool, past: bool, lemmas: Collection[str]
) -> MemoryType:
    """Return the type of memory that a relation would be.

    Args:
        relation: what is said.
        planned: it is a plan or a wish.
        past: it is told as something that happened, or with its date.
        lemmas: the lemmas of the words it is said with.
    """
    if relation.attribute in _PREFERENCES or relation.attribute.startswith(_PREFERENCE_PREFIXES):
        return MemoryType.PREFERENCE
    if planned or relation.attribute == "goal":
        return MemoryType.GOAL
    subject = relation.subject.split(".")[-1].split()[-1:]
    if relation.subject == "project" or any(w in PROJECT_NOUNS for w in subject):
        return MemoryType.PROJECT_DETAIL
    if relation.attribute in ("deadline", "framework", "database"):
        return MemoryType.PROJECT_DETAIL
    return MemoryType.EVENT if _is_event(relation, lemmas, past=past) else MemoryType.FACT


def _is_event(relation: Relation, lemmas: Collection[str], *, past: bool) -> bool:
    if relation.attribute.endswith("_date") or relation.attribute == "date":
        return True
    verb = relation.attribute.split("_")[0]
    dated = any(w in EVENT_NOUNS for w in relation.value.casefold().split())
    happened = past and verb in EVENT_VERBS
    return relation.attribute == "visited" or happened or (dated and "have" in lemmas)


def importance_of(relation: Relation, kind: MemoryType, lemmas: Collection[str]) -> float:
    """Return how much a memory matters, 0–1, by the table of this module."""
    if relation.attribute == "allergy" or any(w in CONSTRAINT_WORDS for w in lemmas):
        return 0.9
    if relation.attribute.endswith("deadline"):
        return 0.85
    if relation.negative and not relation.ended and any(w in _HARD for w in lemmas):
        return 0.8
    if kind is MemoryType.PREFERENCE:
        return 0.65 if relation.attribute == "likes" else 0.7
    if kind is MemoryType.GOAL or relation.attribute == "name":
        return 0.7
    major = relation.attribute in _MAJOR
    return 0.6 if major or kind in (MemoryType.PROJECT_DETAIL, MemoryType.EVENT) else 0.5

"""Attribute and value of "X is Y"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.domain.attributes import attribute_name
from service.domain.extraction.lexicon import (
    DIETS,
    MARITAL,
    PLACE_PREPOSITIONS,
)
from service.domain.extraction.phrases import bare, name_of, phrase, span_text, value_of
from service.domain.extraction.predicates import tool_kind
from service.domain.extraction.topics import PROJECT, USER, Viewpoint, noun_key, owner_of
from service.domain.lexicon.people import ANIMALS, RELATIONS, is_animate
from service.domain.syntax import ParsedText, Token

_DATED = frozenset({"DATE", "TIME"})
_AMOUNTS = frozenset({"MONEY", "PERCENT", "CARDINAL", "QUANTITY"})
_CALENDAR = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "monday",
    "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "tomorrow", "today",
    "tonight", "weekend", "week", "month", "year", "noon", "midnight", "spring", "summer",
    "autumn", "winter",
)  # fmt: skip
_SELF_DATED = frozenset("deadline birthday date time anniversary day".split())
_SELF_PLACED = frozenset("desk home location address seat room".split())
_PERSONAL = frozenset("rent salary pension allowance wage".split())
_NO_OCCUPATION = (
    RELATIONS
    | ANIMALS
    | frozenset(
        "person people fan lover fanatic guy girl man woman adult human member minority".split()
    )
)
_OFFICE = re.compile(r"C[A-Z]O|[SE]?VP")
_TO_NAME = frozenset("call name".split())


@dataclass(frozen=True, slots=True)
class Complement:
    """What a copula says of its subject: the head of it, and the preposition before it."""

    head: Token
    preposition: str = ""


def complement_of(parsed: ParsedText, verb: Token) -> Complement | None:
    """Return the complement of a copula, or None."""
    for child in parsed.dependents(verb, "attr", "acomp", "oprd", "nummod", "xcomp"):
        if child.index > verb.index:
            return Complement(child)
    for child in parsed.dependents(verb, "prep"):
        for inner in parsed.dependents(child, "pobj"):
            return Complement(inner, child.lower)
    for child in parsed.dependents(verb, "npadvmod", "dobj", "pobj", "dep", "appos"):
        if child.index > verb.index and child.pos in ("NOUN", "PROPN", "NUM", "X"):
            return Complement(child)
    return None


def thing_topic(
    parsed: ParsedText, noun: Token, said: Complement, view: Viewpoint
) -> tuple[str | None, str]:
    """Return (subject, attribute) of "my X is Y", "Lee's X is Y" and "the X is Y"."""
    kind = value_kind(parsed, said)
    name = name_of(parsed, noun)
    possessor = owner_of(parsed, noun)
    if noun.lemma == "deadline":
        return _deadline(parsed, noun, view), "deadline"
    if possessor is not None:
        attribute = attribute_name(name)
        if kind and not _carries(noun.lemma, kind) and kind != "value":
            attribute = f"{attribute}_{kind}"
        return noun_key(parsed, possessor, view), attribute
    for prep in parsed.dependents(noun, "prep"):
        if prep.lower in ("of", "for"):
            for inner in parsed.dependents(prep, "pobj"):
                return noun_key(parsed, inner, view), attribute_name(name)
    key = noun_key(parsed, noun, view)
    if kind == "value" and name.casefold() in _PERSONAL:
        return USER, attribute_name(name)
    return key, kind or ("name" if _is_name(said.head) else "is")


def _deadline(parsed: ParsedText, noun: Token, view: Viewpoint) -> str | None:
    for prep in parsed.dependents(noun, "prep"):
        if prep.lower in ("of", "for"):
            for inner in parsed.dependents(prep, "pobj"):
                return noun_key(parsed, inner, view)
    modifiers = [t for t in parsed.dependents(noun, "compound", "amod") if t.lemma != "new"]
    if any(t.lemma == PROJECT for t in modifiers) or not modifiers:
        return PROJECT
    return span_text(parsed, modifiers).casefold()


def value_kind(parsed: ParsedText, said: Complement) -> str:
    """Return "date", "location" or "value" for what a thing is said to be, or an empty string."""
    head = said.head
    named = said.preposition or head.pos == "NUM" or _calendar(parsed, head)
    if head.entity in _DATED and named:
        return "date"
    if said.preposition in PLACE_PREPOSITIONS and head.entity not in _AMOUNTS:
        return "location"
    amount = head.entity in _AMOUNTS or head.pos == "NUM" or head.text == "%"
    return "value" if amount and not said.preposition else ""


def _calendar(parsed: ParsedText, head: Token) -> bool:
    return any(t.lower.startswith(_CALENDAR) for t in (head, *parsed.dependents(head)))


def _carries(noun: str, kind: str) -> bool:
    return noun in (_SELF_DATED if kind == "date" else _SELF_PLACED)


def _is_name(token: Token) -> bool:
    return token.pos == "PROPN" and token.entity not in _DATED | _AMOUNTS


def person_attribute(parsed: ParsedText, said: Complement) -> tuple[str, str, bool]:
    """Return (attribute, value, negative) of what a person is said to be."""
    head, lemma = said.head, said.head.lemma.casefold()
    if said.preposition:
        return _placed(parsed, said)
    special = _adjectival(parsed, head)
    if special is not None:
        return special
    if head.pos == "NUM" or (head.lemma in ("old", "year") and _has_number(parsed, head)):
        return "age", value_of(parsed, head), False
    if lemma in DIETS:
        return "diet", head.lower, False
    if lemma in MARITAL:
        return "marital_status", head.text, False
    if head.entity == "NORP":
        return "nationality", value_of(parsed, head), False
    if _OFFICE.fullmatch(head.text):
        return "occupation", value_of(parsed, head), False
    if head.pos == "NOUN" and is_animate(lemma) and lemma not in _NO_OCCUPATION:
        return "occupation", value_of(parsed, head), False
    if _is_name(head) and not parsed.dependents(head, "det", "prep"):
        return "name", value_of(parsed, head), False
    return "is", value_of(parsed, head), False


def _has_number(parsed: ParsedText, head: Token) -> bool:
    return any(t.pos == "NUM" for t in parsed.subtree(head))


def _placed(parsed: ParsedText, said: Complement) -> tuple[str, str, bool]:
    value = value_of(parsed, said.head)
    if said.preposition == "from":
        return "origin", value, False
    if said.preposition == "into":
        return "likes", value, False
    if said.preposition == "to":
        return "visited", value, False
    if said.preposition in ("in", "at", "on") and said.head.entity in ("DATE", "TIME"):
        return "is", value, False
    if said.preposition == "at" and said.head.entity == "ORG":
        return "employer", value, False
    if said.preposition == "on" and tool_kind(value) != "uses":
        return tool_kind(value), value, False
    if said.preposition in PLACE_PREPOSITIONS:
        return "location", value, False
    return f"is_{attribute_name(said.preposition)}", value, False


def _adjectival(parsed: ParsedText, head: Token) -> tuple[str, str, bool] | None:
    """Return the reading of "allergic to X", "a fan of X", "from X", or None."""
    for prep in parsed.dependents(head, "prep"):
        for inner in parsed.dependents(prep, "pobj"):
            value = span_text(parsed, bare(phrase(parsed, inner)))
            if head.lemma == "allergic" and prep.lower == "to":
                return "allergy", value, False
            if head.lemma in ("fan", "fond", "keen", "lover") and prep.lower in ("of", "on"):
                return "likes", value, False
            if head.lemma == "afraid":
                return "fears", value, False
    return None


def is_naming(verb: Token) -> bool:
    """Return whether a verb names its object ("is called Tom")."""
    return verb.lemma in _TO_NAME

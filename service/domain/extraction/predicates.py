"""Attribute of a verb, by kinds of verbs; otherwise the verb itself with its preposition."""

from __future__ import annotations

from service.domain.attributes import attribute_name
from service.domain.extraction.lexicon import (
    DISLIKE_VERBS,
    FRAMEWORKS,
    HAVE_VERBS,
    HOME_VERBS,
    LIKE_VERBS,
    MOVING_IN,
    PARTING_VERBS,
    USE_VERBS,
    USED_THINGS,
)
from service.domain.syntax import ParsedText, Token

_WORDS = {word: kind for kind, words in USED_THINGS.items() for word in words.split()}
_EMPLOYERS = frozenset({"ORG", "GPE", "PERSON", "FAC", "NORP"})
_WORKPLACES = frozenset(
    "company library bank hospital school university office shop store agency firm bakery clinic "
    "startup lab museum restaurant publisher factory government council charity hotel".split()
)


def tool_kind(value: str) -> str:
    """Return what kind of tool a value names ("os", "editor", …); "uses" for any other."""
    words = value.casefold().replace("-", " ").split()
    return next((_WORDS[w] for w in words if w in _WORDS), "uses")


def framework_in(value: str) -> str | None:
    """Return the framework that a phrase names, as written, or None."""
    return next((w for w in value.split() if w.casefold().strip(",.") in FRAMEWORKS), None)


def verb_attribute(
    parsed: ParsedText, verb: Token, preposition: str, focus: Token | None, value: str
) -> str:
    """Return the attribute that a verb states of its subject."""
    lemma = verb.lemma
    if lemma in LIKE_VERBS | DISLIKE_VERBS or _cannot_stand(parsed, verb):
        return "likes"
    if lemma == "go" and preposition == "off":
        return "likes"
    if lemma == "prefer" or _would_rather(parsed, verb):
        return "prefers"
    if lemma in HAVE_VERBS and not preposition:
        return "has"
    if lemma == "get" and not preposition and _perfect(parsed, verb):
        return "has"
    if lemma in PARTING_VERBS and verb.tag in ("VBD", "VBN") and not preposition:
        return "has"
    if lemma == "speak" and not preposition:
        return "languages"
    if lemma in USE_VERBS and preposition in ("", "to", "on") and focus is not None:
        kind = tool_kind(value)
        return kind if lemma != "run" or kind != "uses" else _plain(verb, preposition)
    return _placed(parsed, verb, preposition, focus) or _plain(verb, preposition)


def _placed(parsed: ParsedText, verb: Token, preposition: str, focus: Token | None) -> str | None:
    lemma = verb.lemma
    passive = bool(parsed.dependents(verb, "auxpass"))
    if lemma in HOME_VERBS and preposition in MOVING_IN:
        return "home"
    if lemma == "move" and preposition in MOVING_IN | {"back"}:
        return "assignment" if passive else "home"
    if lemma == "assign":
        return "assignment"
    if lemma == "bear" and preposition == "in":
        return "birthplace"
    if lemma in ("work", "employ") and preposition in ("at", "for", "by", "with"):
        return "employer"
    if lemma == "work" and preposition == "as":
        return "occupation"
    if lemma in ("start", "begin") and preposition in ("at", "with"):
        return "employer"
    if lemma in ("join", "leave") and focus is not None and _is_employer(parsed, focus):
        return "employer"
    if lemma == "visit" or (lemma == "be" and preposition == "to"):
        return "visited"
    if lemma == "marry":
        return "marital_status"
    return None


def _is_employer(parsed: ParsedText, focus: Token) -> bool:
    named = focus.pos == "PROPN" or focus.entity in _EMPLOYERS
    possessed = bool(parsed.dependents(focus, "poss"))
    return (named and not possessed) or focus.lemma in _WORKPLACES


def _perfect(parsed: ParsedText, verb: Token) -> bool:
    """Return whether this is "have got", which is "have"."""
    auxiliaries = parsed.dependents(verb, "aux")
    return verb.lower == "got" and any(t.lemma in ("have", "'ve", "’ve") for t in auxiliaries)


def _cannot_stand(parsed: ParsedText, verb: Token) -> bool:
    negated = any(t.dep == "neg" for t in parsed.dependents(verb))
    return verb.lemma in ("stand", "bear") and negated and bool(parsed.dependents(verb, "aux"))


def _would_rather(parsed: ParsedText, verb: Token) -> bool:
    return any(t.lower in ("rather", "sooner") for t in parsed.dependents(verb, "advmod"))


def _plain(verb: Token, preposition: str) -> str:
    return attribute_name(f"{verb.lemma} {preposition}")

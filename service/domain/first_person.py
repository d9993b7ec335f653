"""Rewriting a claim about the user into the first person.

The entailment model compares "I painted my horse" with "The user painted her horse" badly, since it
takes "my" and "her" for two people. In "I painted my horse" nobody else is left.
"""

from __future__ import annotations

from service.domain.syntax import ParsedText, Token

_SUBJECT = frozenset({"he", "she", "they"})
_POSSESSIVE = frozenset({"his", "her", "their"})
_OBJECT = frozenset({"him", "her", "them"})
_REFLEXIVE = frozenset({"himself", "herself", "themselves", "themself"})
_VERBS = {"is": "am", "has": "have", "does": "do", "was": "was", "'s": "am", "isn't": "am not"}


def to_first_person(parsed: ParsedText, name: str) -> str | None:
    """Return a claim with the user (called ``name`` in the parse) as "I", or None.

    Pronouns are taken to mean the user when nobody else is named; with another person in the claim
    they could mean either, and None is returned.
    """
    if not any(t.lower == name for t in parsed.tokens):
        return None
    pronouns = any(t.lower in _SUBJECT | _POSSESSIVE | _OBJECT for t in parsed.tokens)
    others = any(t.entity == "PERSON" and t.lower != name for t in parsed.tokens)
    if pronouns and others:
        return None
    text, position = "", 0
    for token in parsed.tokens:
        word = _rewrite(parsed, token, name)
        gap = parsed.text[position : token.start]
        text += word if not gap and word.startswith(" ") else gap + word
        position = token.end
    text = text.replace("I's ", "my ").strip()
    return text[:1].upper() + text[1:]


def _rewrite(parsed: ParsedText, token: Token, name: str) -> str:
    lower = token.lower
    if lower == name:
        return _for_name(token)
    if lower == "'s" and token.dep == "case" and parsed.head_of(token).lower == name:
        return ""
    if lower in _POSSESSIVE and token.dep == "poss":
        return "my"
    if lower in _SUBJECT and token.dep in ("nsubj", "nsubjpass"):
        return "I"
    if lower in _OBJECT:
        return "me"
    if lower in _REFLEXIVE:
        return "myself"
    return _verb(token) if _agrees(parsed, token, name) else token.text


def _for_name(token: Token) -> str:
    if token.dep == "poss":
        return "my"
    return "I" if token.dep in ("nsubj", "nsubjpass", "compound", "ROOT", "conj") else "me"


def _agrees(parsed: ParsedText, token: Token, name: str) -> bool:
    if token.tag not in ("VBZ", "VBD"):
        return False
    head = parsed.head_of(token) if token.dep in ("aux", "auxpass") else token
    return any(
        s.lower == name or s.lower in _SUBJECT
        for s in parsed.dependents(head, "nsubj", "nsubjpass")
    )


def _verb(token: Token) -> str:
    lower = token.lower
    if lower in _VERBS:
        word = _VERBS[lower]
        return " " + word if lower.startswith("'") else word
    return token.lemma if token.tag == "VBZ" else token.text

"""Rewriting a speaker's words about themselves into the third person.

"I'm allergic to nuts and my brother isn't" becomes "The user is allergic to nuts and the user's
brother isn't". The models were trained on text in the third person; and memories are kept in it.
"""

from __future__ import annotations

import re

from service.domain.syntax import ParsedText, Token

_NOMINATIVE = frozenset({"i", "we"})
_OBJECTIVE = frozenset({"me", "us"})
_POSSESSIVE = frozenset({"my", "our"})
_ABSOLUTE = frozenset({"mine", "ours"})
_REFLEXIVE = frozenset({"myself", "ourselves"})
_FINITE = {
    "'m": " is", "’m": " is", "am": "is", "'re": " is", "’re": " is", "are": "is", "'ve": " has",
    "’ve": " has", "have": "has", "do": "does", "were": "was",
    "'d": " would", "’d": " would", "'ll": " will", "’ll": " will", "ai": "is",
}  # fmt: skip
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh|o)$")


def to_third_person(parsed: ParsedText, start: int, end: int, name: str = "the user") -> str:
    """Return the text between two offsets with the first person replaced by ``name``.

    Verbs that agree with a first-person subject are inflected anew. Words outside the first person
    are copied as they are, white space included.
    """
    pieces: list[str] = []
    position = start
    for token in parsed.tokens:
        if token.end <= start or token.start >= end:
            continue
        gap = parsed.text[position : token.start]
        word = _rewrite(parsed, token, name)
        if word != token.text and _opens_sentence(parsed, token):
            word = word[:1].upper() + word[1:]
        pieces.append(
            word if word.startswith(" ") and not gap else gap + word.lstrip() if gap else word
        )
        position = token.end
    text = "".join(pieces).strip()
    return text[:1].upper() + text[1:]


def _opens_sentence(parsed: ParsedText, token: Token) -> bool:
    return any(s.start == token.start for s in parsed.sentences)


def _rewrite(parsed: ParsedText, token: Token, name: str) -> str:
    lower = token.lower
    if token.pos == "PRON" or lower in _POSSESSIVE:
        replaced = _pronoun(lower, name)
        if replaced is not None:
            return replaced
    if _agrees_with_first_person(parsed, token):
        return _inflect(token)
    return token.text


def _pronoun(lower: str, name: str) -> str | None:
    if lower in _NOMINATIVE or lower in _OBJECTIVE:
        return name
    if lower in _POSSESSIVE or lower in _ABSOLUTE:
        return f"{name}'s"
    return "themselves" if lower in _REFLEXIVE else None


def _agrees_with_first_person(parsed: ParsedText, token: Token) -> bool:
    if token.tag not in ("VBP", "VBD", "MD") or (token.tag == "VBD" and token.lower != "were"):
        return False
    head = parsed.head_of(token) if token.dep in ("aux", "auxpass") else token
    subjects = _subjects(parsed, head)
    return any(s.lower in _NOMINATIVE for s in subjects)


def _subjects(parsed: ParsedText, head: Token) -> tuple[Token, ...]:
    own = parsed.dependents(head, "nsubj", "nsubjpass")
    if own or head.dep != "conj" or head.head == head.index:
        return own
    return _subjects(parsed, parsed.head_of(head))


def _inflect(token: Token) -> str:
    lower = token.lower
    if lower in _FINITE:
        return _FINITE[lower]
    if token.tag != "VBP":
        return token.text
    return third_person_verb(token.text)


def third_person_verb(verb: str) -> str:
    """Return the third person singular present of a base form."""
    lower = verb.lower()
    irregular = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    if lower in irregular:
        return irregular[lower]
    if _SIBILANT.search(lower):
        return verb + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"

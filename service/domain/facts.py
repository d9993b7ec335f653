"""Bringing a fact into the form in which it is compared: "The user …"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.domain.syntax import ParsedText, Token
from service.domain.third_person import third_person_verb, to_third_person

_USER = re.compile(r"\b(?:the\s+)?user(?P<poss>['’]s)?\b(?!s)", re.IGNORECASE)
_LABEL = re.compile(r"^(?P<label>[\w'’ -]{2,40}?)\s*[:=]\s+(?P<value>\S.*)$", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_PRONOUN = re.compile(
    r"^(?:he|she|they)\b(?P<be>\s+(?:are|were|have|do)\b|['’](?:re|ve)\b)?", re.IGNORECASE
)
_THEIRS = re.compile(r"^(?:his|her|their)\b", re.IGNORECASE)
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "'re": "is", "'ve": "has"}
_I = re.compile(r"\b(?:i|my|we|our|me|mine)\b", re.IGNORECASE)
_NAMES = ("Mary", "Jane", "Ruth")
_VOWEL = re.compile(r"^[aeiou]", re.IGNORECASE)
_OPENING = frozenset({"nsubj", "nsubjpass", "poss", "compound"})
_UNCOUNTED = frozenset({"NNS", "NNP", "NNPS"})


@dataclass(frozen=True, slots=True)
class NormalFact:
    """A fact in the third person.

    Attributes:
        hypothesis: "The user …", as the entailment model reads it.
        parseable: the same with a plain name for the user; taggers read "Mary cycles" rightly
            and "The user cycles" as a noun phrase.
        name: the lower-case name that stands for the user in ``parseable``.
        other: the name of another person that the fact opens with, or an empty string; in
            ``parseable`` a plain name stands for it too.
        other_name: that plain name, in lower case.
        bare: the fact had no subject of its own ("lawyer", "likes tea").
    """

    hypothesis: str
    parseable: str
    name: str
    bare: bool = False
    other: str = ""
    other_name: str = ""


def settled_fact(fact: str, speaker_name: str | None) -> NormalFact | None:
    """Return the normal form of a fact that is about "the user" already; ``None`` for others.

    It is what ``normalise_fact`` returns, without the parse: parsing is a quarter of a check, and
    most facts are written like this.
    """
    text = _with_user(_BULLET.sub("", fact).strip(), speaker_name)
    if not text.lower().startswith("the user") or _LABEL.match(text) or _I.search(text):
        return None
    return _finish(text, bare=False)


def normalise_fact(fact: ParsedText, speaker_name: str | None) -> NormalFact:
    """Return the normal form of a fact.

    "User's profession: lawyer", "Alice is a lawyer" (when Alice speaks), "I am a lawyer", "They are
    a lawyer", "lawyer" and "likes tea" all come out as statements about the user. A fact about
    somebody or something else stays as it is.
    """
    text = _BULLET.sub("", fact.text).strip()
    text = _with_user(text, speaker_name)
    label = _LABEL.match(text)
    if label and not any(t.is_verbal for t in fact.tokens if t.end <= fact.text.find(":")):
        return _finish(_labelled(label.group("label"), label.group("value")), bare=False)
    first = to_third_person(fact, 0, len(fact.text)) if _first_person(fact) else None
    if first is not None:
        return _finish(_with_user(first, speaker_name), bare=False)
    pronoun = _without_pronoun(text)
    if pronoun is not None:
        return _finish(pronoun, bare=False)
    other = _opening_name(fact, text, speaker_name)
    completed = None if other else _complete(fact, text)
    return _finish(completed or text, bare=completed is not None, other=other)


def _finish(text: str, *, bare: bool, other: str = "") -> NormalFact:
    hypothesis = text[:1].upper() + text[1:]
    if hypothesis[-1:].isalnum():
        hypothesis += "."
    free = [n for n in _NAMES if n.lower() not in text.lower()] or list(_NAMES)
    parseable = _USER.sub(lambda m: free[0] + ("'s" if m.group("poss") else ""), hypothesis)
    if other:
        parseable = re.sub(rf"(?<!\w){re.escape(other)}(?!\w)", free[-1], parseable)
    return NormalFact(
        hypothesis, parseable, free[0].lower(), bare, other, free[-1].lower() if other else ""
    )


def _opening_name(fact: ParsedText, text: str, speaker_name: str | None) -> str:
    """Return the person's name that a fact opens with ("Caroline's family …"), if it does.

    Where the speaker has a name, so may others: any singular noun without an article counts then,
    since taggers do not know every name.
    """
    first = fact.tokens[0] if fact.tokens else None
    if first is None or not text.startswith(first.text) or not first.text.isalpha():
        return ""
    if first.is_person_name:
        return first.text
    bare = first.pos in ("NOUN", "PROPN") and first.tag in ("NN", "NNP") and first.entity != "GPE"
    unheard = bare and first.text[:1].isupper() and not first.lower.endswith("ing")
    alone = not any(t.is_person_name for t in fact.tokens[1:])
    return first.text if speaker_name and unheard and alone and first.dep in _OPENING else ""


def _with_user(text: str, speaker_name: str | None) -> str:
    """Return the text with the speaker's name, and a bare "user", replaced by "the user"."""
    found = _USER.sub(lambda m: "the user" + ("'s" if m.group("poss") else ""), text)
    if speaker_name and speaker_name.strip():
        parts = [speaker_name.strip(), *speaker_name.split()[:1]]
        for part in dict.fromkeys(parts):
            pattern = rf"(?<!\w){re.escape(part)}(?P<poss>['’]s)?(?!\w)"
            found = re.sub(pattern, lambda m: "the user" + ("'s" if m.group("poss") else ""), found)
    return found[:1].upper() + found[1:]


def _first_person(fact: ParsedText) -> bool:
    return any(
        t.lower in ("i", "my", "we", "our", "me", "mine") and t.pos in ("PRON", "DET")
        for t in fact.tokens
    )


def _labelled(label: str, value: str) -> str:
    owner = label.strip()
    if not re.match(r"(?:the|a|an|this|that)\b", owner, re.IGNORECASE):
        owner = "the user's " + owner[:1].lower() + owner[1:]
    return f"{owner} is {value}"


def _without_pronoun(text: str) -> str | None:
    """Return the text with a leading third person pronoun read as the user."""
    if _THEIRS.match(text):
        return _THEIRS.sub("The user's", text, count=1)
    match = _PRONOUN.match(text)
    if match is None:
        return None
    verb = (match.group("be") or "").strip().lower().replace("’", "'")
    return (
        f"The user {_SINGULAR[verb]}{text[match.end() :]}"
        if verb
        else "The user" + text[match.end() :]
    )


def _complete(fact: ParsedText, text: str) -> str | None:
    """Return a statement about the user made of a fragment, or None for a full sentence."""
    root = next((t for t in fact.tokens if t.head == t.index and not t.text.isspace()), None)
    if text.lower().startswith("the user"):
        return None
    if root is None or any(t.dep in ("nsubj", "nsubjpass", "expl") for t in fact.tokens):
        return None
    body = text[:1].lower() + text[1:] if fact.tokens[0].pos not in ("PROPN",) else text
    first = fact.tokens[0]
    if first.tag in ("VBZ", "VBD", "MD") or _noun_like_verb(fact):
        return f"The user {body}"
    if first.tag in ("VB", "VBP"):
        verb, _, rest = body.partition(" ")
        return f"The user {third_person_verb(verb)} {rest}".rstrip()
    if first.tag in ("VBG", "VBN") or root.pos in ("ADJ", "ADP") or first.lower in ("not", "no"):
        return f"The user is {body}"
    return _nominal(root, first, body) if root.pos in ("NOUN", "PROPN") else None


def _noun_like_verb(fact: ParsedText) -> bool:
    """Return whether a fragment opens like "Lives in …", which taggers read as a plural noun."""
    opening = fact.tokens[:2]
    return len(opening) == 2 and opening[0].tag == "NNS" and opening[1].pos == "ADP"  # noqa: PLR2004


def _nominal(root: Token, first: Token, body: str) -> str:
    if first.pos in ("DET", "NUM", "PRON") or root.tag in _UNCOUNTED:
        return (
            f"The user is {body}"
            if first.pos == "DET"
            else f"The user has {body}"
            if first.pos == "NUM"
            else f"The user is {body}"
        )
    article = "an" if _VOWEL.match(body) else "a"
    return f"The user is {article} {body}"

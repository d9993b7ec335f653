"""Keys for what a statement is about: "user", "user.brother", "dana", "print server"."""

from __future__ import annotations

from service.domain.clauses import Clause
from service.domain.extraction.phrases import name_of
from service.domain.holders import Holder, HolderKind
from service.domain.lexicon.people import is_animate
from service.domain.subjects import Perspective
from service.domain.syntax import ParsedText, Token

USER = "user"
PROJECT = "project"
_PRONOUNS = frozenset(
    "he she him her his hers they them their theirs it its this that these those you your".split()
)


def subject_key(
    parsed: ParsedText, noun: Token | None, clause: Clause, perspective: Perspective
) -> str | None:
    """Return the key of a clause's subject, or None where nobody can tell who is meant."""
    if noun is None or noun.lower in _PRONOUNS or noun.tag in ("WP", "WDT", "EX"):
        return holder_key(clause.holder)
    return noun_key(parsed, noun, perspective)


def holder_key(holder: Holder) -> str | None:
    """Return the key of a holder whose pronoun has been resolved, or None."""
    if holder.kind is HolderKind.SPEAKER:
        return USER
    if holder.kind in (HolderKind.RELATED, HolderKind.POSSESSION) and holder.noun:
        return f"{USER}.{holder.noun}"
    if holder.kind in (HolderKind.NAMED, HolderKind.OTHER_PERSON) and holder.noun not in _PRONOUNS:
        return holder.noun or None
    return None


def noun_key(parsed: ParsedText, noun: Token, perspective: Perspective) -> str | None:
    """Return the key of a noun phrase: its possessors, outermost first, then its name."""
    if perspective.is_speaker(noun):
        return USER
    if noun.lower in _PRONOUNS:
        return None
    possessor = owner_of(parsed, noun)
    name = _own_name(parsed, noun)
    if possessor is None:
        return name
    outer = noun_key(parsed, possessor, perspective)
    return None if outer is None else f"{outer}.{name}"


def owner_of(parsed: ParsedText, noun: Token) -> Token | None:
    """Return the possessor of a noun ("my" of "my brother"), or None."""
    return next(iter(parsed.dependents(noun, "poss")), None)


def _own_name(parsed: ParsedText, noun: Token) -> str:
    if noun.pos == "PROPN" and noun.entity not in ("DATE", "TIME"):
        parts = [t for t in parsed.dependents(noun, "compound", "nummod", "flat")]
        words = sorted([*parts, noun], key=lambda t: t.index)
        return " ".join(t.text for t in words).casefold()
    if is_animate(noun.lemma) and owner_of(parsed, noun) is not None:
        return noun.lemma
    return name_of(parsed, noun).casefold()

"""Keys for what a statement is about: "user", "user.brother", "dana", "print server"."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.clauses import Clause
from service.domain.extraction.phrases import name_of
from service.domain.holders import Holder, HolderKind
from service.domain.lexicon.people import is_animate
from service.domain.subjects import Perspective
from service.domain.syntax import ParsedText, Token

USER = "user"
PROJECT = "project"
PERSONAL = frozenset("he she him her his hers they them their theirs".split())
_PRONOUNS = PERSONAL | frozenset("it its this that these those you your".split())


@dataclass(frozen=True, slots=True)
class Viewpoint(Perspective):
    """A perspective with the person or animal that was spoken of last, as a key."""

    antecedent: str | None = None

    def referent(self, pronoun: str) -> str | None:
        """Return whom a third person pronoun means, or None."""
        return self.antecedent if pronoun.lower() in PERSONAL else None


def subject_key(
    parsed: ParsedText, noun: Token | None, clause: Clause, view: Viewpoint
) -> str | None:
    """Return the key of a clause's subject, or None where nobody can tell who is meant."""
    if noun is None or noun.tag in ("WP", "WDT", "EX"):
        return holder_key(clause.holder)
    if clause.holder.kind is HolderKind.SPEAKER and not view.is_speaker(noun):
        return USER  # "my wife and I"
    if noun.lower in _PRONOUNS:
        return holder_key(clause.holder) or view.referent(noun.lower)
    return noun_key(parsed, noun, view)


def holder_key(holder: Holder) -> str | None:
    """Return the key of a holder whose pronoun has been resolved, or None."""
    if holder.kind is HolderKind.SPEAKER:
        return USER
    if holder.kind in (HolderKind.RELATED, HolderKind.POSSESSION) and holder.noun:
        return f"{USER}.{holder.noun}"
    if holder.kind in (HolderKind.NAMED, HolderKind.OTHER_PERSON) and holder.noun not in _PRONOUNS:
        return holder.noun or None
    return None


def noun_key(parsed: ParsedText, noun: Token, view: Viewpoint) -> str | None:
    """Return the key of a noun phrase: its possessors, outermost first, then its name."""
    if view.is_speaker(noun):
        return USER
    if noun.lower in _PRONOUNS:
        return view.referent(noun.lower)
    possessor = owner_of(parsed, noun)
    name = _own_name(parsed, noun)
    if possessor is None:
        return name
    outer = noun_key(parsed, possessor, view)
    return None if outer is None else f"{outer}.{name}"


def owner_of(parsed: ParsedText, noun: Token) -> Token | None:
    """Return the possessor of a noun ("my" of "my brother"), or None."""
    return next(iter(parsed.dependents(noun, "poss")), None)


def _own_name(parsed: ParsedText, noun: Token) -> str:
    if noun.pos == "PROPN" and noun.entity not in ("DATE", "TIME"):
        parts = list(parsed.dependents(noun, "compound", "nummod", "flat"))
        words = sorted([*parts, noun], key=lambda t: t.index)
        return " ".join(t.text for t in words).casefold()
    if is_animate(noun.lemma) and owner_of(parsed, noun) is not None:
        return noun.lemma
    return name_of(parsed, noun).casefold()

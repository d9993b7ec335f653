"""Who a clause is about: from its subject to a holder."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.holders import SPEAKER_HOLDER, UNKNOWN_HOLDER, Holder, HolderKind
from service.domain.lexicon.people import is_animate
from service.domain.syntax import ParsedText, Token

_FIRST = frozenset("i me my mine myself we us our ours ourselves im ive".split())
_SECOND = frozenset("you your yours yourself u".split())
_THIRD = frozenset(
    "he she him her his hers himself herself they them their theirs themselves".split()
)
_SUBJECTS = ("nsubj", "nsubjpass", "csubj", "csubjpass", "expl")
_PRONOUN_WORDS = _FIRST | _SECOND | _THIRD


@dataclass(frozen=True, slots=True)
class Perspective:
    """From where a text is told.

    ``names`` are the lower-case words that mean the speaker: the speaker's own name and, in a
    fact, "user".
    """

    names: frozenset[str] = frozenset()

    def is_speaker(self, token: Token) -> bool:
        """Return whether one word means the speaker."""
        return token.lower in _FIRST or token.lower in self.names


def subject_token(parsed: ParsedText, head: Token) -> Token | None:
    """Return the subject of a clause head, following coordination and control."""
    seen: set[int] = set()
    token = head
    while token.index not in seen:
        seen.add(token.index)
        own = [t for t in parsed.dependents(token, *_SUBJECTS) if t.dep != "expl"]
        own = [t for t in own if not is_vocative(parsed, t)]
        if own:
            return own[0]
        if _opens_sentence(parsed, token):
            return None
        if token.dep in ("conj", "xcomp", "advcl", "pcomp") and token.head != token.index:
            token = parsed.head_of(token)
            continue
        break
    return None


def is_vocative(parsed: ParsedText, noun: Token) -> bool:
    """Return whether a name only addresses somebody: "Hey John! Haven't talked …"."""
    after = parsed.tokens[noun.index + 1 : noun.index + 2]
    if noun.pos != "PROPN" or not after or after[0].text not in (",", "!", "?", "."):
        return False
    before = parsed.tokens[noun.index - 1] if noun.index else None
    if before is not None and (before.pos == "INTJ" or before.lower in _GREETINGS):
        return True
    if parsed.dependents(noun, "appos", "relcl"):
        return False  # "Lena, my boss, is vegan."
    return before is None or before.pos == "PUNCT"


_GREETINGS = frozenset(
    "hey hi hello hiya thanks yeah yep yup yes nope no wow ok okay oh so well dear bye sure".split()
)
_BEFORE_VERB = frozenset({"ADV", "AUX", "PART", "INTJ", "PUNCT", "CCONJ", "SPACE"})


def _opens_sentence(parsed: ParsedText, head: Token) -> bool:
    """Return whether a finite verb without a subject opens its sentence ("Moved to Denver.")."""
    sentence = parsed.sentences[parsed.sentence_of(head)]
    finite = head.tag in ("VBD", "VBN", "VBP") and head.dep in ("ROOT", "ccomp", "advcl", "conj")
    return finite and all(
        t.pos in _BEFORE_VERB or is_vocative(parsed, t)
        for t in parsed.tokens[sentence.first : head.index]
    )


def holder_of(parsed: ParsedText, noun: Token | None, perspective: Perspective) -> Holder:
    """Return the holder that a noun phrase names, read by its head noun."""
    if noun is None:
        return UNKNOWN_HOLDER
    if _joined_by_speaker(parsed, noun, perspective):
        return Holder(HolderKind.SPEAKER, aliases=_noun_holder(parsed, noun, perspective).names)
    relative = _antecedent(parsed, noun)
    if relative is not None:
        return holder_of(parsed, relative, perspective)
    if perspective.is_speaker(noun) and not parsed.dependents(noun, "poss"):
        return SPEAKER_HOLDER
    if noun.lower in _SECOND:
        return Holder(HolderKind.ADDRESSEE, noun.lower)
    if noun.lower in _THIRD:
        return Holder(HolderKind.PRONOUN, noun.lower)
    return _noun_holder(parsed, noun, perspective)


def _joined_by_speaker(parsed: ParsedText, noun: Token, perspective: Perspective) -> bool:
    """Return whether the speaker is coordinated with the noun: "my sister and I"."""
    return any(
        perspective.is_speaker(t) and not parsed.dependents(t, "poss")
        for t in parsed.dependents(noun, "conj")
    )


def _antecedent(parsed: ParsedText, noun: Token) -> Token | None:
    """Return the noun that a relative pronoun stands for."""
    if noun.tag not in ("WP", "WDT") and noun.lower != "that":
        return None
    for ancestor in parsed.ancestors(noun):
        if ancestor.dep == "relcl":
            return parsed.head_of(ancestor)
    return None


def _noun_holder(parsed: ParsedText, noun: Token, perspective: Perspective) -> Holder:
    core = _core(parsed, noun)
    aliases = _aliases(parsed, core)
    owner = _owner(parsed, core)
    animate = is_animate(core.lemma) or is_animate(core.lower)
    if owner is not None and perspective.is_speaker(owner):
        kind = HolderKind.RELATED if animate else HolderKind.POSSESSION
        return Holder(kind, core.lemma, aliases)
    if owner is not None and owner.lower not in _SECOND:
        kind = HolderKind.OTHER_PERSON if animate else HolderKind.THING
        return Holder(kind, core.lemma, aliases | {owner.lower}, owner.lower)
    if _is_name(core):
        return Holder(HolderKind.NAMED, core.lower, aliases)
    if animate or core.entity == "PERSON":
        return Holder(HolderKind.OTHER_PERSON, core.lemma, aliases)
    return Holder(HolderKind.THING, core.lemma, aliases)


def _core(parsed: ParsedText, noun: Token) -> Token:
    """Return the noun that decides: "friend" of "one of my friends", "a friend of mine"."""
    if noun.lower in ("one", "some", "two", "three", "both", "all", "most", "half", "none", "each"):
        for prep in parsed.dependents(noun, "prep"):
            for inner in parsed.dependents(prep, "pobj"):
                return inner
    return noun


def _owner(parsed: ParsedText, noun: Token) -> Token | None:
    for child in parsed.dependents(noun, "poss"):
        return child
    for prep in parsed.dependents(noun, "prep"):
        if prep.lower == "of":
            for inner in parsed.dependents(prep, "pobj"):
                if inner.lower in _PRONOUN_WORDS or inner.lower == "user":
                    return inner
    return None


def _aliases(parsed: ParsedText, noun: Token) -> frozenset[str]:
    """Return the names in apposition and compound: "my roommate Jake", "Dr Ana Silva"."""
    found = {t.lower for t in parsed.dependents(noun, "appos", "compound", "flat") if _is_name(t)}
    for child in parsed.dependents(noun, "appos", "compound"):
        if is_animate(child.lemma):
            found.add(child.lemma)
    return frozenset(found)


def _is_name(token: Token) -> bool:
    return token.pos == "PROPN" and token.entity not in ("DATE", "TIME", "MONEY", "PERCENT")

"""Relations of messages without a subject or a verb: "Vegan since 2019.", "Jonas here."."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.domain.attributes import attribute_name
from service.domain.extraction.copulas import Complement, person_attribute
from service.domain.extraction.lexicon import DIETS, LASTING_ADJECTIVES, MARITAL
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import USER
from service.domain.extraction.wording import sentence
from service.domain.lexicon.people import ANIMALS, is_animate
from service.domain.syntax import ParsedText, Token

_HERE = re.compile(r"^(?P<name>[^\W\d_]+(?:[ '’-][^\W\d_]+){0,2}) here\b", re.UNICODE)
_LABEL = re.compile(r"^(?:my )?(?P<label>[^\W\d_][\w' -]{1,30}?)\s*[:=]\s+(?P<value>\S.*)$", re.I)
_TELLING = frozenset({"since", "for", "to", "in", "from", "at", "by"})
_NO_NAMES = frozenset("nothing everything anything something nobody i it that anyone".split())


def introduced_name(text: str) -> str | None:
    """Return the name in "Jonas here"."""
    match = _HERE.match(text)
    if match is None:
        return None
    name = match.group("name")
    words = name.split()
    return name if all(w[:1].isupper() for w in words) and name.lower() not in _NO_NAMES else None


def labelled(text: str) -> tuple[str, str] | None:
    """Return (label, value) of "Profession: welder"."""
    match = _LABEL.match(text.strip().rstrip("."))
    if match is None:
        return None
    return match.group("label").strip(), match.group("value").strip()


def fragment_sentence(tokens: Sequence[Token], text: str) -> tuple[Relation, str] | None:
    """Return what a fragment without a subject says, with the sentence for it, or None.

    An introduction ("Jonas here"), a label ("Profession: welder") or a lasting trait alone
    ("Left-handed, if that helps").
    """
    name = introduced_name(text)
    if name is not None:
        return Relation(USER, "name", name), sentence(f"the user's name is {name}")
    trait = re.split(r"[,.!;]", text)[0].strip()
    if trait.casefold() in LASTING_ADJECTIVES:
        said = sentence(f"the user is {trait.lower()}")
        return Relation(USER, _trait(trait.casefold()), trait.lower()), said
    label = labelled(text)
    clause = any(t.dep in ("nsubj", "nsubjpass") and t.pos == "PRON" for t in tokens)
    if label is None or clause or any(t.is_verbal for t in tokens[: len(label[0].split())]):
        return None
    attribute = attribute_name(label[0])
    said = f"the user's {label[0][:1].lower()}{label[0][1:]} is {label[1]}"
    return Relation(USER, attribute, label[1]), sentence(said)


def _trait(word: str) -> str:
    if word in DIETS:
        return "diet"
    return "marital_status" if word in MARITAL else "is"


def fragment_relation(parsed: ParsedText, head: Token) -> Relation | None:
    """Return what a verbless clause says about the user, or None."""
    for owner in parsed.dependents(head, "poss"):  # "my name's Priyanka", read as a possessor
        mine = any(t.lower == "my" for t in parsed.dependents(owner, "poss"))
        if mine and owner.lemma == "name" and head.pos == "PROPN":
            return Relation(USER, "name", head.text)
    if not _tells(parsed, head):
        return None
    attribute, value, _ = person_attribute(parsed, Complement(head))
    return Relation(USER, attribute, value, focus=head)


def _tells(parsed: ParsedText, head: Token) -> bool:
    """Return whether a fragment describes a person: a lasting state, or a role."""
    lemma = head.lemma.casefold()
    if head.text.casefold() in LASTING_ADJECTIVES or lemma in LASTING_ADJECTIVES:
        return True
    if any(t.text.casefold() in LASTING_ADJECTIVES for t in _compound(parsed, head)):
        return True
    determined = bool(parsed.dependents(head, "det", "poss"))
    detailed = any(p.lower in _TELLING for p in parsed.dependents(head, "prep"))
    person = is_animate(lemma) and lemma not in ANIMALS
    return head.pos == "NOUN" and person and (detailed or not determined)


def _compound(parsed: ParsedText, head: Token) -> list[Token]:
    return [t for t in parsed.subtree(head) if t.dep in ("amod", "compound", "npadvmod")]

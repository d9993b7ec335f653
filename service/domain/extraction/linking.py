"""What "X is Y" states: about a person, something of theirs, or a thing."""

from __future__ import annotations

from service.domain.attributes import attribute_name
from service.domain.extraction.contrast import Contrast
from service.domain.extraction.copulas import (
    Complement,
    person_attribute,
    thing_topic,
)
from service.domain.extraction.passage import Passage
from service.domain.extraction.phrases import (
    bare,
    conjuncts,
    name_of,
    phrase,
    span_text,
    trimmed,
    value_of,
)
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import (
    USER,
    noun_key,
    owner_of,
)
from service.domain.extraction.wording import third_person
from service.domain.lexicon.people import is_animate
from service.domain.syntax import ParsedText, Token

_TIMES = frozenset({"DATE", "TIME"})
_ACTIVITIES = frozenset("hobby passion job interest habit specialty pastime sport".split())
_VAGUE = frozenset("it that this you him her them one something anything me us".split())


def linked(
    passage: Passage, subject: Token, key: str | None, said: Complement, contrast: Contrast
) -> list[Relation]:
    """Return what "X is Y" says: about a person, something of theirs, or a thing."""
    parsed = passage.parsed
    owner = owner_of(parsed, subject)
    if _is_person(passage, subject, key):
        identity = said.head.pos == "PROPN" and said.head.entity not in _TIMES
        if owner is not None and identity and not said.preposition:
            holder = noun_key(parsed, owner, passage.view)
            if holder is not None and said.head.entity != "NORP":
                value = value_of(parsed, said.head, contrast.tokens)
                return [Relation(holder, subject.lemma, value, focus=said.head)]
        role = _inverted(passage, subject, said)
        if role is not None:
            return [role]
        return [] if key is None else described(passage, key, said, contrast)
    inverted = _inverted(passage, subject, said)
    if inverted is not None:
        return [inverted]
    topic, attribute = thing_topic(parsed, subject, said, passage.view)
    if topic is None:
        return []
    value = _complement_text(parsed, said, contrast)
    return [Relation(topic, attribute, value, focus=said.head)]


def _is_person(passage: Passage, subject: Token, key: str | None) -> bool:
    if key == USER or passage.clause.holder.is_third_party:
        return True
    return is_animate(subject.lemma) or subject.entity == "PERSON"


def described(passage: Passage, key: str, said: Complement, contrast: Contrast) -> list[Relation]:
    """Return what a person is said to be, one relation per coordinated description."""
    parsed = passage.parsed
    heads = conjuncts(parsed, said.head)
    found = []
    for head in heads:
        one = Complement(head, said.preposition)
        attribute, value, negative = person_attribute(parsed, one)
        others = tuple(h for h in heads if h is not head)
        if head.index in contrast.tokens or value.lower() in _VAGUE:
            continue
        if attribute == "name":
            value, role = _name_and_role(passage, key, head)
            found += role
        found.append(Relation(key, attribute, value, negative, focus=head, siblings=others))
    return found


def _name_and_role(passage: Passage, key: str, name: Token) -> tuple[str, list[Relation]]:
    """Return the name and the role of "I'm Sarah, a product designer from Toronto"."""
    parsed = passage.parsed
    roles = [t for t in parsed.dependents(name, "appos") if t.pos == "NOUN"]
    beside = frozenset(t.index for role in roles for t in parsed.subtree(role))
    relations = []
    for role in roles:
        attribute, value, negative = person_attribute(parsed, Complement(role))
        predicate = f"is {third_person(parsed, phrase(parsed, role))}"
        relations.append(Relation(key, attribute, value, negative, predicate=predicate))
    return value_of(parsed, name, beside), relations


def _inverted(passage: Passage, subject: Token, said: Complement) -> Relation | None:
    """Return "my X is Y" for "Y is my X": "Bea is my manager", "dark mode is my preference"."""
    parsed = passage.parsed
    owner = owner_of(parsed, said.head)
    if owner is None or said.preposition or owner_of(parsed, subject) is not None:
        return None
    holder = noun_key(parsed, owner, passage.view)
    if holder is None or subject.pos == "PRON":
        return None
    if is_animate(said.head.lemma) and subject.pos != "PROPN":
        return None
    name = attribute_name(name_of(parsed, said.head))
    attribute = {"preference": "prefers"}.get(name, name)
    return Relation(holder, attribute, value_of(parsed, subject))


def _complement_text(parsed: ParsedText, said: Complement, contrast: Contrast) -> str:
    inner = [t for t in parsed.subtree(said.head) if t.dep != "relcl" and t.lower != "now"]
    words = [t for t in inner if t.index not in contrast.tokens]
    if words and not said.preposition:  # "they/them": the parser leaves "they/" outside
        gap = parsed.tokens[parsed.head_of(said.head).index + 1 : words[0].index]
        slashed = bool(gap) and gap[-1].text == "/"
        words = [*gap, *words] if slashed else words
    if words and words[0].lower == "to" and words[0].tag == "TO":
        words = words[1:]
    return span_text(parsed, bare(trimmed(words)))


def there_is(passage: Passage, verb: Token) -> list[Relation]:
    """Return what "there are three people on my team" says: that the team has them."""
    parsed = passage.parsed
    for said in parsed.dependents(verb, "attr"):
        prepositions = [*parsed.dependents(said, "prep"), *parsed.dependents(verb, "prep")]
        for place in (p for prep in prepositions for p in parsed.dependents(prep, "pobj")):
            key = noun_key(parsed, place, passage.view)
            if key is not None and place.entity not in _TIMES:
                dropped = frozenset(t.index for p in prepositions for t in parsed.subtree(p))
                return [Relation(key, "has", value_of(parsed, said, dropped))]
    return []


def activity_of(subject: Token | None, verb: Token) -> Complement | None:
    """Return the complement of "my hobby is beekeeping", which parsers take for a progressive."""
    if subject is None or verb.tag != "VBG" or subject.lemma not in _ACTIVITIES:
        return None
    return Complement(verb)

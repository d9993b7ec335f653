"""From a clause to the relations that it states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from service.domain.extraction.changes import changed_value
from service.domain.extraction.contrast import Contrast, contrast_of
from service.domain.extraction.copulas import (
    complement_of,
    is_naming,
    thing_topic,
)
from service.domain.extraction.fragments import fragment_relation
from service.domain.extraction.lexicon import (
    DISLIKE_VERBS,
    LASTING_ADJECTIVES,
    PARTING_VERBS,
    QUIT_VERBS,
)
from service.domain.extraction.linking import activity_of, described, linked, there_is
from service.domain.extraction.passage import Passage
from service.domain.extraction.phrases import (
    span_text,
    trimmed,
)
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import (
    USER,
    subject_key,
)
from service.domain.extraction.verbs import verbal
from service.domain.extraction.wording import without_asides
from service.domain.polarity import is_negative
from service.domain.subjects import subject_token
from service.domain.syntax import ParsedText, Token

_ACHIEVING = frozenset("finish end close break give delete lose leave sell".split())
_LINKING = frozenset("be become remain stay".split())


def relations_of(passage: Passage) -> list[Relation]:
    """Return what a passage states, one relation per coordinated value."""
    parsed, head = passage.parsed, passage.head
    contrast = contrast_of(parsed, head, passage.tokens)
    subject = subject_token(parsed, head)
    if not head.is_verbal and subject is None:
        found = fragment_relation(parsed, head)
        return [found] if found else []
    trait = _trait(passage, subject)
    if trait is not None:
        return [trait]
    verb, ended = _core_verb(parsed, head)
    found_all = _stated(passage, subject, verb, contrast)
    spoken = without_asides(passage.tokens)  # "No, I live in Leeds" is no negation
    stated = tuple(t for t in spoken if t.index not in contrast.tokens)
    negative = is_negative(parsed, head, stated)
    over = passage.clause.ended and (head.lemma not in _ACHIEVING or _any_more(passage.tokens))
    ended = ended or over or (negative and _any_more(passage.tokens))
    return [_with_force(r, verb, contrast, negative=negative, ended=ended) for r in found_all]


def _trait(passage: Passage, subject: Token | None) -> Relation | None:
    """Return a lasting trait of two words ("left-handed"), which parsers take apart."""
    tokens = passage.tokens
    for first, hyphen, last in zip(tokens, tokens[1:], tokens[2:], strict=False):
        word = f"{first.text}-{last.text}"
        if hyphen.text == "-" and word.casefold() in LASTING_ADJECTIVES and subject is not None:
            key = subject_key(passage.parsed, subject, passage.clause, passage.view)
            negative = is_negative(passage.parsed, passage.head, tokens)
            return None if key is None else Relation(key, "is", word, negative)
    return None


def _any_more(tokens: Sequence[Token]) -> bool:
    return any(a.lower == "any" and b.lower in ("more", "longer") for a, b in pairwise(tokens))


def _with_force(
    found: Relation, verb: Token, contrast: Contrast, *, negative: bool, ended: bool
) -> Relation:
    done = verb.tag in ("VBD", "VBN")
    parted = done and verb.lemma in PARTING_VERBS and found.attribute == "has" and not negative
    left = verb.lemma == "leave" and found.attribute == "employer" and not negative
    disliked = verb.lemma in DISLIKE_VERBS | {"go"} and found.attribute == "likes"
    over = ended or parted or left
    return replace(
        found,
        negative=over or (negative != disliked),
        ended=over,
        replaced=contrast.value if contrast.value != found.value else None,
    )


def _core_verb(parsed: ParsedText, head: Token) -> tuple[Token, bool]:
    """Return the verb that carries the meaning, and whether its governor says that it ended."""
    if head.lemma == "use" and head.tag in ("VBD", "VBN"):
        for child in parsed.dependents(head, "xcomp"):
            return child, True
    if head.lemma in QUIT_VERBS:
        for child in parsed.dependents(head, "xcomp"):
            return child, True
    return head, False


def _stated(
    passage: Passage, subject: Token | None, verb: Token, contrast: Contrast
) -> list[Relation]:
    parsed = passage.parsed
    if parsed.dependents(verb, "expl") and verb.lemma == "be":
        return there_is(passage, verb)
    key = subject_key(parsed, subject, passage.clause, passage.view)
    activity = activity_of(subject, verb)
    if activity is not None and subject is not None:
        topic, attribute = thing_topic(parsed, subject, activity, passage.view)
        words = [t for t in parsed.subtree(verb) if t.index >= verb.index]
        value = span_text(parsed, trimmed(words))
        return [] if topic is None else [Relation(topic, attribute, value)]
    said = complement_of(parsed, verb) if verb.lemma in _LINKING or is_naming(verb) else None
    if said is not None and said.head.index in contrast.tokens:
        said = None
    if said is not None and subject is not None and _is_link(verb):
        return linked(passage, subject, key, said, contrast)
    if said is not None and is_naming(verb):
        words = parsed.subtree(said.head)
        named = [t for t in words if not passage.view.is_speaker(t)]
        value = span_text(parsed, trimmed(named))
        if len(named) < len(words):  # "everyone calls me Pri"
            return [Relation(USER, "nickname", value, focus=said.head)]
        return [Relation(key or USER, "name", value, focus=said.head)]
    if said is not None and key is not None:
        return described(passage, key, said, contrast)
    changed = changed_value(passage, subject, verb)
    if changed is not None:
        return [changed]
    return [] if key is None else verbal(passage, key, verb, contrast)


def _is_link(verb: Token) -> bool:
    return verb.lemma in _LINKING

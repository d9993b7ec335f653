"""The sentence that states one relation of a passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.domain.extraction.dating import relative_dates
from service.domain.extraction.lexicon import DIETS, QUIT_VERBS
from service.domain.extraction.passage import Passage
from service.domain.extraction.phrases import phrase
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import PERSONAL, USER
from service.domain.extraction.wording import sentence, third_person, without, without_asides
from service.domain.holders import HolderKind
from service.domain.subjects import subject_token
from service.domain.syntax import Token
from service.domain.third_person import third_person_verb
from service.domain.values import Value

_STATIVE_PARTICIPLES = frozenset("base locate bear employ situate retire divorce".split())
_THIRD = frozenset("he she they it".split())
_TIMES = frozenset({"DATE", "TIME"})
_NO_NOW = frozenset({"right", "for", "from", "by", "until", "just", "up"})


def canonical_text(
    passage: Passage, relation: Relation, values: Sequence[Value], *, correction: bool
) -> str:
    """Return a relation as a complete sentence in the third person."""
    if relation.changed:
        return _changed(passage, relation)
    if relation.predicate:
        return sentence(f"{subject_text(relation.subject)} {relation.predicate}")
    if relation.attribute == "name" and relation.subject == USER and not relation.negative:
        return sentence(f"the user's name is {relation.value}")
    words = without(without_asides(passage.tokens), _siblings(passage, relation))
    if words and words[0].dep == "mark":
        words = words[1:]
    if correction:
        words = [t for t in words if not _is_now(words, t)]
    relative, date = relative_dates(words, values)
    words = without_asides(without(words, relative))
    if not words:
        return ""
    text = _with_subject(passage, relation, words)
    return sentence(f"{text.rstrip(' .!')} {date}")


def _is_now(words: Sequence[Token], token: Token) -> bool:
    if token.lower != "now":
        return False
    before = next((t for t in words if t.index == token.index - 1), None)
    return before is None or before.lower not in _NO_NOW


def _siblings(passage: Passage, relation: Relation) -> frozenset[int]:
    """Return the words of the other coordinated values, and of what joins them."""
    parsed = passage.parsed
    if relation.focus is None or not relation.siblings:
        return frozenset()
    own = {t.index for t in phrase(parsed, relation.focus)}
    found: set[int] = set()
    for head in (relation.focus, *relation.siblings):
        if head is not relation.focus:
            found |= {t.index for t in phrase(parsed, head)}
        joins = parsed.dependents(head, "cc", "punct", "preconj")
        found |= {t.index for t in joins if t.text in (",", "and") or t.dep == "preconj"}
    return frozenset(found - own)


def _with_subject(passage: Passage, relation: Relation, words: list[Token]) -> str:
    parsed, head = passage.parsed, passage.head
    own = parsed.dependents(head, "nsubj", "nsubjpass", "csubj", "expl")
    subject = own[0] if own else None
    given = _other_words(passage, words, subject)
    if subject is not None and subject.lower not in _THIRD:
        return third_person(parsed, words, given)
    if subject is not None:
        rest = [t for t in words if t.index != subject.index]
        return f"{subject_text(relation.subject)} {_predicate(passage, rest, given)}"
    shared = subject_token(parsed, head)
    if shared is not None and shared.lower not in _THIRD:
        lead = third_person(parsed, phrase(parsed, shared))
        return f"{lead} {_predicate(passage, words, given)}"
    return f"{subject_text(relation.subject)} {_bare_predicate(passage, words, given)}"


def _other_words(
    passage: Passage, words: Sequence[Token], subject: Token | None
) -> Mapping[int, str]:
    """Return the words that change beyond the first person, by index."""
    head, given = passage.head, {}
    speaker = passage.clause.holder.kind is HolderKind.SPEAKER
    speaker = speaker and not passage.parsed.dependents(head, "expl")
    opening = words[0].index if words else -1
    for token in words:
        if token.lower in ("my", "our") and speaker and token.index != opening:
            given[token.index] = "their"
        if token.lower in PERSONAL and token.dep == "poss" and token.index == opening:
            owner = passage.view.antecedent
            if owner is not None:
                given[token.index] = f"{subject_text(owner)}'s"
    if speaker and head.is_verbal and not passage.parsed.dependents(head, "aux", "auxpass"):
        verb = _other_verb(passage, subject)
        if verb is not None:
            given[head.index] = verb
    return given


def _other_verb(passage: Passage, subject: Token | None) -> str | None:
    head = passage.head
    if head.lemma in QUIT_VERBS and head.lower == "quit":
        return "quit"
    if head.lemma == "hope" and passage.parsed.dependents(head, "xcomp"):
        return "wants"
    speaking = subject is not None and subject.lower in ("i", "we")
    misread = head.tag in ("VB", "IN") or (head.tag == "VBP" and head.lower == "like")
    return third_person_verb(head.lower) if speaking and misread else None


def _predicate(passage: Passage, words: Sequence[Token], given: Mapping[int, str]) -> str:
    text = third_person(passage.parsed, words, given)
    return text[:1].lower() + text[1:] if words and words[0].pos != "PROPN" else text


def _bare_predicate(passage: Passage, words: Sequence[Token], given: Mapping[int, str]) -> str:
    """Return a predicate whose subject was left out, with the auxiliary that goes with it."""
    text, head = _predicate(passage, words, given), passage.head
    first = words[0]
    if first.lower == "been":
        return f"has {text}"
    since = any(t.lower == "since" for t in words)
    if not head.is_verbal:
        complete = f"{_article(head, first, text)}{text}"
        return f"has been {complete}" if since else f"is {complete}"
    auxiliary = bool(passage.parsed.dependents(head, "aux", "auxpass"))
    if not auxiliary and (head.tag == "VBG" or head.lemma in _STATIVE_PARTICIPLES):
        return f"is {text}"
    return text


def _article(head: Token, first: Token, text: str) -> str:
    if head.tag != "NN" or first.pos == "DET" or head.lemma in DIETS:
        return ""
    return "an " if text[:1].lower() in "aeiou" else "a "


def subject_text(key: str) -> str:
    """Return a subject key in words: "user.brother" gives "the user's brother"."""
    first, *rest = key.split(".")
    lead = "the user" if first == USER else first.title()
    return "'s ".join([lead, *rest])


def _changed(passage: Passage, relation: Relation) -> str:
    """Return "X is Y" for a thing whose value was said to have changed."""
    parsed = passage.parsed
    subject, focus = subject_token(parsed, passage.head), relation.focus
    if subject is None or focus is None:
        return ""
    words = phrase(parsed, subject)
    lead = third_person(parsed, words)
    if relation.attribute == "deadline" and [t.lower for t in words] == ["the", "deadline"]:
        lead = "the user's deadline"
    dated = focus.entity in _TIMES and relation.attribute != "deadline"
    verb = "are" if subject.tag in ("NNS", "NNPS") else "is"
    return sentence(f"{lead} {verb} {'on ' if dated else ''}{relation.value}")

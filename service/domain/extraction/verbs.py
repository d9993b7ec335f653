"""What a verb with its objects states."""

from __future__ import annotations

from service.domain.extraction.contrast import Contrast
from service.domain.extraction.lexicon import (
    QUIT_VERBS,
)
from service.domain.extraction.participles import base_of
from service.domain.extraction.passage import Passage
from service.domain.extraction.phrases import (
    bare,
    conjuncts,
    phrase,
    span_text,
    trimmed,
)
from service.domain.extraction.predicates import framework_in, verb_attribute
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import (
    PROJECT,
)
from service.domain.holders import HolderKind
from service.domain.syntax import ParsedText, Token

_TIMES = frozenset({"DATE", "TIME"})
_THINGS = frozenset({HolderKind.POSSESSION, HolderKind.THING})
_VAGUE = frozenset("it that this you him her them one something anything me us".split())
_WHEN = frozenset("before after during until till since".split())
_BUILDING = frozenset("build develop make write create code".split())
_BUILT = frozenset("app application site website game backend frontend api service".split())


def verbal(passage: Passage, key: str, verb: Token, contrast: Contrast) -> list[Relation]:
    """Return what a verb states of its subject, one relation per coordinated object."""
    parsed = passage.parsed
    project = _project(passage, verb)
    if project is not None:
        return [project]
    wanted = _wanted(passage, key, verb)
    if wanted is not None:
        return [wanted]
    focus, preposition = _object_of(parsed, verb, contrast.tokens)
    rather = any(t.lower in ("rather", "sooner") for t in parsed.dependents(verb, "advmod"))
    if focus is None or rather or preposition.split(" ")[-1] in _WHEN:
        return _without_object(passage, key, verb, whole=rather)
    heads = [h for h in conjuncts(parsed, focus) if h.index not in contrast.tokens]
    found = []
    for head in heads:
        if head.lower in _VAGUE:
            continue
        value = span_text(parsed, bare(phrase(parsed, head, contrast.tokens)))
        attribute = verb_attribute(parsed, verb, preposition, head, value)
        if attribute == "home" and passage.clause.holder.kind in _THINGS:
            attribute = "location"
        if attribute == "marital_status":
            value = "married"
        attribute = base_of(head.lower) if _is_quitting(verb, head) else attribute
        others = tuple(h for h in heads if h is not head)
        found.append(Relation(key, attribute, value, focus=head, siblings=others))
    return found


def _wanted(passage: Passage, key: str, verb: Token) -> Relation | None:
    """Return the preference of "wants invoices to be sent in euros"."""
    parsed = passage.parsed
    if verb.lemma != "want":
        return None
    for done in parsed.dependents(verb, "ccomp", "xcomp"):
        if done.tag == "VBN" or parsed.dependents(done, "nsubj", "nsubjpass"):
            words = [t for t in parsed.subtree(verb) if t.index > verb.index]
            return Relation(key, "prefers", span_text(parsed, trimmed(words)))
    return None


def _is_quitting(verb: Token, head: Token) -> bool:
    return verb.lemma in QUIT_VERBS and head.lower.endswith("ing")


def _object_of(
    parsed: ParsedText, verb: Token, dropped: frozenset[int]
) -> tuple[Token | None, str]:
    """Return the head of a verb's object and the preposition before it."""
    for child in parsed.dependents(verb, "dobj", "attr", "oprd", "dative"):
        if child.index not in dropped and child.index > verb.index:
            return child, ""
    prepositions = list(parsed.dependents(verb, "prep", "agent"))
    for nested in [*prepositions, *parsed.dependents(verb, "advmod")]:
        prepositions.extend(parsed.dependents(nested, "prep"))
    particle = "".join(f"{t.lower} " for t in parsed.dependents(verb, "prt"))
    timed: tuple[Token | None, str] = (None, "")
    for prep in prepositions:
        for inner in parsed.dependents(prep, "pobj", "pcomp"):
            if inner.index in dropped or prep.index in dropped:
                continue
            if inner.entity not in _TIMES:
                return inner, f"{particle}{prep.lower}"
            timed = timed if timed[0] else (inner, f"{particle}{prep.lower}")
    return timed


def _without_object(
    passage: Passage, key: str, verb: Token, *, whole: bool = False
) -> list[Relation]:
    """Return the relation of a verb whose complement is a clause, an adverb or nothing."""
    parsed = passage.parsed
    if verb.lemma in QUIT_VERBS:
        return []
    rest = [t for t in passage.tokens if t.index > verb.index and t.head != t.index]
    words = trimmed([t for t in rest if verb in parsed.ancestors(t)])
    words = [verb, *words] if whole else words
    if words and words[0].lower == "to":
        words = words[1:]
    value = span_text(parsed, words) if words else verb.text
    attribute = verb_attribute(parsed, verb, "", None, value)
    return [Relation(key, attribute, value)] if value else []


def _project(passage: Passage, verb: Token) -> Relation | None:
    """Return the framework of what is being built ("building a Next.js app")."""
    parsed = passage.parsed
    if verb.lemma not in _BUILDING:
        return None
    for built in parsed.dependents(verb, "dobj"):
        words = [t for t in parsed.subtree(verb) if t.index > verb.index]
        named = framework_in(span_text(parsed, words))
        if named is not None and built.lemma in _BUILT | {"project", "bot", "tool", "prototype"}:
            return Relation(PROJECT, "framework", named, focus=built)
    return None

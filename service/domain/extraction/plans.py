"""Plans and wishes: what somebody wants, not what is so."""

from __future__ import annotations

from service.domain.clauses import SpeechAct
from service.domain.extraction.copulas import is_naming
from service.domain.extraction.lexicon import DISLIKE_VERBS, LIKE_VERBS
from service.domain.extraction.passage import Passage
from service.domain.extraction.phrases import span_text, trimmed, value_of
from service.domain.extraction.relation import Relation
from service.domain.extraction.relations import relations_of
from service.domain.extraction.topics import subject_key
from service.domain.subjects import subject_token
from service.domain.syntax import Token

_WISHES = frozenset("want plan hope aim intend wish dream mean like love decide".split())


def plan_relation(passage: Passage) -> Relation | None:
    """Return the goal or plan that a passage states, or None if it states none.

    "I like to swim" is a taste and no plan; "I'd like to swim" is one.
    """
    parsed, head = passage.parsed, passage.head
    if passage.clause.act is not SpeechAct.PLAN or _is_taste(passage):
        return None
    subject = subject_token(parsed, head)
    key = subject_key(parsed, subject, passage.clause, passage.view)
    if key is None:
        return None
    named = _name_wished(passage)
    if named is not None:
        return Relation(key, "name", value_of(parsed, named), focus=named)
    wish = head.lemma in _WISHES or head.lemma == "go"
    words = _after(passage, head) if wish else _from(passage, head)
    value = span_text(parsed, words)
    attribute = "goal" if head.lemma in _WISHES else "plan"
    return Relation(key, attribute, value, passage.clause.negative) if value else None


def statements_of(passage: Passage) -> list[Relation]:
    """Return what a passage states: its plan, or else its relations."""
    plan = plan_relation(passage)
    return [plan] if plan is not None else relations_of(passage)


def _name_wished(passage: Passage) -> Token | None:
    """Return the name of "wants to be called Lex"."""
    parsed = passage.parsed
    for child in parsed.dependents(passage.head, "xcomp"):
        for name in parsed.dependents(child, "oprd", "attr", "dobj") if is_naming(child) else ():
            return name
    return None


def _is_taste(passage: Passage) -> bool:
    head = passage.head
    modal = any(t.tag == "MD" for t in passage.parsed.dependents(head, "aux"))
    return head.lemma in LIKE_VERBS | DISLIKE_VERBS | {"prefer", "need"} and not modal


def _after(passage: Passage, head: Token) -> list[Token]:
    words = [t for t in passage.tokens if t.index > head.index]
    if words and words[0].lower in ("to", "on", "of"):
        words = words[1:]
    return trimmed(words)


def _from(passage: Passage, head: Token) -> list[Token]:
    return trimmed([t for t in passage.tokens if t.index >= head.index])

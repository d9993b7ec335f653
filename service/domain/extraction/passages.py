"""Main clauses with what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.clauses import Clause, SpeechAct
from service.domain.extraction.passage import Passage
from service.domain.extraction.topics import USER, Viewpoint, noun_key, subject_key
from service.domain.holders import HolderKind
from service.domain.lexicon.people import is_animate
from service.domain.subjects import Perspective, subject_token
from service.domain.syntax import ParsedText, Token

_REASONS = frozenset("since because as although though whereas while".split())
_NOTING = frozenset("remember note know".split())
_ACQUIRING = frozenset("have own get adopt buy keep rescue raise marry".split())


def passages_of(
    parsed: ParsedText, clauses: Sequence[Clause], perspective: Perspective
) -> list[Passage]:
    """Return the statements of a text in order; every token is in one of them.

    Each knows whom a pronoun would mean: the person or animal that was spoken of last.
    """
    tops = {c.predicate: c for c in clauses if _is_top(parsed, c)}
    owned: dict[int, list[Token]] = {index: [] for index in tops}
    for token in parsed.tokens:
        owner = _owner(parsed, token, tops)
        if owner is not None and token.text.strip():
            owned[owner].append(token)
    view = Viewpoint(perspective.names)
    found: list[Passage] = []
    for index, clause in sorted(tops.items()):
        passage = Passage(parsed, _own_act(parsed, clause), tuple(owned[index]), view)
        found.append(passage)
        view = replace(view, antecedent=_spoken_of(passage) or view.antecedent)
    return found


def _spoken_of(passage: Passage) -> str | None:
    """Return the person or animal that a passage speaks of."""
    parsed, clause = passage.parsed, passage.clause
    if clause.holder.is_third_party:
        return subject_key(parsed, subject_token(parsed, passage.head), clause, passage.view)
    for token in reversed(passage.tokens):
        acquired = passage.head.lemma in _ACQUIRING and clause.holder.kind is _SPEAKER
        mine = acquired and token.dep == "dobj" and token.pos == "NOUN"
        if mine or (token.dep in _OBJECTS and _is_somebody(token)):
            key = noun_key(parsed, token, passage.view)
            return f"{USER}.{token.lemma}" if acquired and key and "." not in key else key
    return None


_SPEAKER = HolderKind.SPEAKER
_OBJECTS = frozenset({"dobj", "attr", "pobj", "dative"})


def _is_somebody(token: Token) -> bool:
    return token.pos in ("NOUN", "PROPN") and (is_animate(token.lemma) or token.entity == "PERSON")


def _owner(parsed: ParsedText, token: Token, tops: dict[int, Clause]) -> int | None:
    if token.index in tops:
        return token.index
    return next((a.index for a in parsed.ancestors(token) if a.index in tops), None)


def _is_top(parsed: ParsedText, clause: Clause) -> bool:
    """Return whether a clause is stated for itself and not as part of another."""
    head = parsed.tokens[clause.predicate]
    if head.dep in ("ROOT", "parataxis", "conj", "appos", "dep") or head.head == head.index:
        return True
    if head.dep == "ccomp":
        return _runs_on(parsed, head) or _to_be_noted(parsed, head)
    return head.dep == "advcl" and _gives_reason(parsed, head)


def _runs_on(parsed: ParsedText, head: Token) -> bool:
    """Return whether a clause only looks like a complement: "X can't swim; I can"."""
    governor = parsed.head_of(head)
    if governor.index < head.index or parsed.dependents(head, "mark"):
        return False
    between = parsed.tokens[head.index : governor.index]
    return bool(parsed.dependents(governor, "nsubj", "nsubjpass", "attr")) and any(
        t.text in (";", ",", ":", "—", "-") for t in between
    )


def _to_be_noted(parsed: ParsedText, head: Token) -> bool:
    """Return whether a clause is what somebody is told to remember."""
    governor = parsed.head_of(head)
    ordered = governor.tag in ("VB", "VBP", "NN", "NNP") and not parsed.dependents(
        governor, "nsubj"
    )
    return ordered and governor.lemma in _NOTING


def _gives_reason(parsed: ParsedText, head: Token) -> bool:
    """Return whether a subordinate clause states something of its own: "since I'm diabetic"."""
    marks = [t.lower for t in parsed.dependents(head, "mark", "advmod")]
    subject = bool(parsed.dependents(head, "nsubj", "nsubjpass"))
    return subject and any(m in _REASONS for m in marks)


def _own_act(parsed: ParsedText, clause: Clause) -> Clause:
    """Return a clause with its own act: a reason given for a question is not asked."""
    head = parsed.tokens[clause.predicate]
    asked = clause.act is SpeechAct.QUESTION
    reason = head.dep == "advcl" and _gives_reason(parsed, head)
    return replace(clause, act=SpeechAct.ASSERTION) if asked and reason else clause

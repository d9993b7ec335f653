"""A source and a fact, read once: parses, clauses, values, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.domain.clauses import Clause
from service.domain.facts import NormalFact
from service.domain.holders import HolderKind
from service.domain.syntax import ParsedText, Token
from service.domain.third_person import to_third_person
from service.domain.values import Value
from service.domain.verdicts import Speaker


@dataclass(frozen=True)
class SourcePart:
    """One turn of a source.

    ``offset`` is where it starts in the whole source; everything else counts from its own start.
    """

    speaker: Speaker
    offset: int
    parsed: ParsedText
    clauses: tuple[Clause, ...]
    values: tuple[Value, ...]

    def values_within(self, start: int, end: int) -> list[Value]:
        """Return the values that stand between two offsets."""
        return [v for v in self.values if start <= v.start and v.end <= end]

    def third_person(self, start: int, end: int) -> str:
        """Return a passage with the user's first person replaced by "the user"."""
        if self.speaker is not Speaker.USER:
            return self.parsed.text[start:end].strip()
        return to_third_person(self.parsed, start, end)


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a fact says.

    Attributes:
        text: the claim as a sentence in the third person.
        clause: its analysis.
        values: its numbers and dates.
        parsed: the parse of the claim.
        first_person: the claim as the user would say it, where that can be told.
    """

    text: str
    clause: Clause
    values: tuple[Value, ...]
    parsed: ParsedText
    first_person: str | None = None

    @property
    def about_speaker(self) -> bool:
        """Return whether the claim is about the user or something of theirs."""
        kinds = (HolderKind.SPEAKER, HolderKind.POSSESSION, HolderKind.RELATED)
        return self.clause.holder.kind in kinds


def split_claims(
    parsed: ParsedText, clauses: Sequence[Clause], fact: NormalFact
) -> list[tuple[str, Clause]]:
    """Return the claims of a fact, each as (parseable text, clause).

    Coordinated clauses are claims of their own ("lives in Rome and works at a bank" is two); what
    is subordinate stays with its main clause.
    """
    top = [c for c in clauses if _is_top(parsed, parsed.tokens[c.predicate])]
    if len(top) <= 1:
        main = top[0] if top else clauses[0] if clauses else None
        if main is None:
            return []
        everything = frozenset().union(*(c.content for c in clauses))
        return [(fact.parseable, replace(main, content=everything))]
    heads = {c.predicate for c in top}
    return [_one_claim(parsed, c, top[0], heads, clauses) for c in top]


def _is_top(parsed: ParsedText, head: Token) -> bool:
    """Return whether a clause head is a root, or coordinated with one."""
    while head.dep == "conj" and head.head != head.index:
        head = parsed.head_of(head)
    return head.dep in ("ROOT", "parataxis")


def _one_claim(
    parsed: ParsedText,
    clause: Clause,
    first: Clause,
    heads: set[int],
    clauses: Sequence[Clause],
) -> tuple[str, Clause]:
    """Return one of several claims with everything that is below it and not below another."""
    head = parsed.tokens[clause.predicate]
    tokens = [t for t in parsed.subtree(head) if _nearest(parsed, t, heads) == head.index]
    inside = {t.index for t in tokens}
    content = frozenset().union(*(c.content for c in clauses if c.predicate in inside))
    text = _without_edges(parsed, tokens)
    if not any(t.dep in ("nsubj", "nsubjpass", "expl") for t in parsed.dependents(head)):
        text = f"{_subject_text(parsed, first)} {text}"
    return text[:1].upper() + text[1:] + ".", replace(clause, content=content)


def _nearest(parsed: ParsedText, token: Token, heads: set[int]) -> int:
    if token.index in heads:
        return token.index
    return next((a.index for a in parsed.ancestors(token) if a.index in heads), -1)


def _without_edges(parsed: ParsedText, tokens: Sequence[Token]) -> str:
    words = list(tokens)
    while words and _is_edge(words[0]):
        words.pop(0)
    while words and _is_edge(words[-1]):
        words.pop()
    return parsed.text[words[0].start : words[-1].end] if words else ""


def _is_edge(token: Token) -> bool:
    return token.dep in ("cc", "punct") or token.text.isspace()


def _subject_text(parsed: ParsedText, clause: Clause) -> str:
    for child in parsed.dependents(parsed.tokens[clause.predicate], "nsubj", "nsubjpass"):
        words = parsed.subtree(child)
        return parsed.text[words[0].start : words[-1].end]
    return ""


def with_names(text: str, fact: NormalFact) -> str:
    """Return a claim with the stand-in names turned back."""
    named = text.replace(fact.name.capitalize(), "the user").strip()
    if fact.other_name:
        named = named.replace(fact.other_name.capitalize(), fact.other)
    return named[:1].upper() + named[1:]


def with_stated_values(text: str, equal: Sequence[tuple[Value, Value]]) -> str:
    """Return a claim with each value written as the source writes it.

    Equal values in other clothes ("1,250.00" and "1250", "on 9 March" and "yesterday") must not
    look different to the entailment model.
    """
    for claimed, stated in equal:
        if _written_differently(claimed, stated):
            text = text.replace(claimed.text, stated.text, 1)
    return text


def _written_differently(claimed: Value, stated: Value) -> bool:
    if claimed.comparator or claimed.text.lower() == stated.text.lower():
        return False
    return bool(stated.dimension) or not claimed.dimension

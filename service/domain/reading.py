"""A source and a fact, read once: parses, clauses, values, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.domain.clauses import Clause
from service.domain.holders import HolderKind
from service.domain.syntax import ParsedText
from service.domain.third_person import to_third_person
from service.domain.values import Value
from service.domain.verdicts import Speaker

_TOP = frozenset({"ROOT", "conj", "parataxis"})


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
        values: its numbers and dates; offsets count in ``text``.
    """

    text: str
    clause: Clause
    values: tuple[Value, ...]

    @property
    def about_speaker(self) -> bool:
        """Return whether the claim is about the user or something of theirs."""
        kinds = (HolderKind.SPEAKER, HolderKind.POSSESSION, HolderKind.RELATED)
        return self.clause.holder.kind in kinds


def split_claims(
    parsed: ParsedText, clauses: Sequence[Clause], hypothesis: str, name: str
) -> list[tuple[str, Clause]]:
    """Return the claims of a fact, each as (text, clause).

    Coordinated clauses are claims of their own ("lives in Rome and works at a bank" is two); what
    is subordinate stays with its main clause.
    """
    top = [c for c in clauses if parsed.tokens[c.predicate].dep in _TOP]
    if len(top) <= 1:
        main = top[0] if top else clauses[0] if clauses else None
        if main is None:
            return []
        everything = frozenset().union(*(c.content for c in clauses))
        return [(hypothesis, replace(main, content=everything))]
    return [(_claim_text(parsed, c, top[0], name), _with_embedded(parsed, c, clauses)) for c in top]


def _with_embedded(parsed: ParsedText, clause: Clause, clauses: Sequence[Clause]) -> Clause:
    """Return a clause with the content of the clauses below it that are no claims themselves."""
    content = clause.content
    for other in clauses:
        head = parsed.tokens[other.predicate]
        if head.dep not in _TOP and clause.predicate in {t.index for t in parsed.ancestors(head)}:
            content = content | other.content
    return replace(clause, content=content)


def _claim_text(parsed: ParsedText, clause: Clause, first: Clause, name: str) -> str:
    tokens = [parsed.tokens[i] for i in clause.tokens]
    while tokens and (tokens[0].dep in ("cc", "punct") or tokens[0].text.isspace()):
        tokens = tokens[1:]
    while tokens and (tokens[-1].dep in ("cc", "punct") or tokens[-1].text.isspace()):
        tokens = tokens[:-1]
    text = parsed.text[tokens[0].start : tokens[-1].end] if tokens else parsed.text
    own_subject = any(t.dep in ("nsubj", "nsubjpass", "expl") for t in tokens)
    if not own_subject:
        text = f"{_subject_text(parsed, first)} {text}"
    return _named(text, name) + "."


def _subject_text(parsed: ParsedText, clause: Clause) -> str:
    for child in parsed.dependents(parsed.tokens[clause.predicate], "nsubj", "nsubjpass"):
        words = parsed.subtree(child)
        return parsed.text[words[0].start : words[-1].end]
    return ""


def _named(text: str, name: str) -> str:
    """Return the text with the stand-in name turned back into "the user"."""
    named = text.replace(name.capitalize(), "the user").strip()
    return named[:1].upper() + named[1:]


def _written_differently(claimed: Value, stated: Value) -> bool:
    if claimed.comparator or claimed.text.lower() == stated.text.lower():
        return False
    return bool(stated.dimension) or not claimed.dimension


def with_stated_values(text: str, equal: Sequence[tuple[Value, Value]]) -> str:
    """Return a claim with each value written as the source writes it.

    Equal values in other clothes ("1,250.00" and "1250", "on 9 March" and "yesterday") must not
    look different to the entailment model. Offsets of the first of each pair count in ``text``.
    """
    for claimed, stated in sorted(equal, key=lambda pair: -pair[0].start):
        if _written_differently(claimed, stated):
            text = text[: claimed.start] + stated.text + text[claimed.end :]
    return text

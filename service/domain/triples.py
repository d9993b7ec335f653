"""Subject, attribute and value of any statement.

The same code reads what a message says and what a stored fact says, so that both come out with the
same keys; adjudication compares those.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from service.domain.clause_analysis import analyse_clauses
from service.domain.clauses import Clause
from service.domain.extraction.passages import passages_of
from service.domain.extraction.plans import statements_of
from service.domain.extraction.relation import Relation
from service.domain.extraction.repair import repaired
from service.domain.facts import NormalFact
from service.domain.memory import Triple
from service.domain.reading import Claim
from service.domain.subjects import Perspective
from service.domain.syntax import ParsedText


class ReadFact(Protocol):
    """What is needed of a reading: the fact and its claims."""

    @property
    def fact(self) -> NormalFact:
        """Return the fact in its normal form."""
        ...

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Return what it says, parsed."""
        ...


def fact_triples(reading: ReadFact) -> tuple[Triple, ...]:
    """Return the triples of all claims of a fact, in order, without repetition."""
    fact = reading.fact
    perspective = Perspective(frozenset({fact.name}))
    found: list[Triple] = []
    for claim in reading.claims:
        parsed = repaired(claim.parsed)
        clauses = analyse_clauses(parsed, perspective)
        found += [_renamed(t, fact) for t in triples_of(parsed, clauses, perspective)]
    return tuple(dict.fromkeys(found))


def triples_of(
    parsed: ParsedText, clauses: Sequence[Clause], perspective: Perspective
) -> tuple[Triple, ...]:
    """Return the triples that the main clauses of a text state.

    Subordinate clauses belong to the clause that governs them. A clause about somebody who cannot
    be told ("he", without anybody before) has none.
    """
    found = [
        as_triple(relation)
        for passage in passages_of(parsed, clauses, perspective)
        for relation in statements_of(passage)
    ]
    return tuple(dict.fromkeys(found))


def as_triple(relation: Relation) -> Triple:
    """Return the triple of one relation."""
    return Triple(
        relation.subject, relation.attribute, relation.value, polarity=not relation.negative
    )


def _renamed(triple: Triple, fact: NormalFact) -> Triple:
    """Return a triple with the names that stood in for the user and another turned back."""
    subject, value = triple.subject, triple.value
    for stand_in, key, shown in (
        (fact.name, "user", "the user"),
        (fact.other_name, fact.other.casefold(), fact.other),
    ):
        if stand_in:
            subject = re.sub(rf"(?<!\w){re.escape(stand_in)}(?!\w)", key, subject)
            value = value.replace(stand_in.capitalize(), shown)
    return Triple(subject, triple.attribute, value, triple.polarity)

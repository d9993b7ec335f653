"""Weigh an incoming memory against existing ones by evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from service.domain.adjudicate import Pair, adjudicate
from service.domain.adjudication import AdjudicationOutcome, PairSignals, Statement
from service.domain.check import CheckInput, CheckOutcome
from service.domain.clauses import Tense
from service.domain.cues import has_additive_cue, has_update_cue
from service.domain.guards.instructions import is_recalled
from service.domain.guards.tense import STATIVE
from service.domain.policy import Policy
from service.domain.triples import fact_triples
from service.ports.language import LanguageAnalyser
from service.ports.models import Embedder, EntailmentModel
from service.usecases.gate import Gate
from service.usecases.reader import Reader, Reading


@dataclass(frozen=True, slots=True)
class Party:
    """One side as it is asked about: a fact with its source, and what is known beside them.

    ``check`` is given when the gate has already judged this side (a stored memory keeps its own);
    otherwise the adjudicator asks the gate.
    """

    input: CheckInput
    id: str | None = None
    authority: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    check: CheckOutcome | None = None


class Adjudicator:
    """Weighs memories; holds no state but the gate and its models."""

    def __init__(
        self,
        *,
        gate: Gate,
        nli: EntailmentModel,
        embedder: Embedder,
        language: LanguageAnalyser,
    ) -> None:
        self._gate = gate
        self._nli = nli
        self._embedder = embedder
        self._reader = Reader(language)

    def judge(
        self,
        existing: Sequence[Party],
        incoming: Party,
        policy: Policy,
        functional: Mapping[str, bool],
    ) -> tuple[AdjudicationOutcome, CheckOutcome, list[CheckOutcome]]:
        """Return (outcome, check of the incoming, checks of the existing), in order.

        ``functional`` are the tenant's declarations of attributes, over the built-in table. Checks,
        cross checks and comparisons of all sides run in one batch each.
        """
        readings = self._reader.read([p.input for p in (*existing, incoming)])
        parties = _with_shared_name([*existing, incoming], readings)
        checks, crosses = self._checks(parties, policy)
        statements = [
            _statement(p, r, c) for p, r, c in zip(parties, readings, checks, strict=True)
        ]
        pairs = self._pairs(statements, crosses)
        outcome = adjudicate(statements[-1], pairs, policy, functional)
        return outcome, checks[-1], checks[:-1]

    def _checks(
        self, parties: Sequence[Party], policy: Policy
    ) -> tuple[list[CheckOutcome], list[CheckOutcome]]:
        """Return each side's own check, and each existing fact's against the incoming source."""
        incoming = parties[-1]
        missing = [p for p in parties if p.check is None]
        crossed = [replace(incoming.input, fact=p.input.fact) for p in parties[:-1]]
        found = self._gate.judge(
            [(p.input, policy) for p in missing] + [(i, policy) for i in crossed]
        )
        fresh = iter(found[: len(missing)])
        own = [p.check if p.check is not None else next(fresh) for p in parties]
        return own, found[len(missing) :]

    def _pairs(
        self, statements: Sequence[Statement], crosses: Sequence[CheckOutcome]
    ) -> list[Pair]:
        incoming = statements[-1]
        others = statements[:-1]
        if not others:
            return []
        texts = [s.fact for s in statements] + [_subjects(s) for s in statements]
        vectors = self._embedder.embed(texts)
        n = len(statements)
        asked = [(o.fact, incoming.fact) for o in others] + [
            (incoming.fact, o.fact) for o in others
        ]
        scores = self._nli.classify(asked)
        pairs: list[Pair] = []
        for index, other in enumerate(others):
            forward, backward = scores[index], scores[len(others) + index]
            signals = PairSignals(
                relatedness=_cosine(vectors[index], vectors[n - 1]),
                forward_entailment=forward.entailment,
                backward_entailment=backward.entailment,
                contradiction=(forward.contradiction + backward.contradiction) / 2,
            )
            similarity = _cosine(vectors[n + index], vectors[2 * n - 1])
            pairs.append(Pair(other, signals, crosses[index].reason_code, similarity))
        return pairs


def _cosine(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return round((float(first @ second) + 1) / 2, 6)


def _subjects(statement: Statement) -> str:
    return " ".join(sorted({t.subject for t in statement.triples})) or statement.fact


def _with_shared_name(parties: list[Party], readings: Sequence[Reading]) -> list[Party]:
    """Let a name that both sides use for the speaker mean the speaker.

    "Dana is head nurse" from "I'm head nurse here" and "Dana places the orders" from "I also place
    the orders": when nobody says what the speaker is called, a name that opens the incoming fact
    and an existing one, and stands in neither source, is taken to be theirs.
    """
    incoming = readings[-1]
    name = incoming.fact.other
    if not name or parties[-1].input.speaker_name:
        return parties
    unnamed = [r for r in readings[:-1] if r.fact.other == name and name not in r.asked.source]
    if not unnamed or name in incoming.asked.source:
        return parties
    return [replace(p, input=replace(p.input, speaker_name=name)) for p in parties]


def _is_past(party: Party, reading: Reading) -> bool:
    """Return whether a fact is about a state that was, not about one that is."""
    ended = party.valid_to is not None and party.valid_from is None
    return ended or any(
        c.clause.tense is Tense.PAST_HABIT
        or (c.clause.tense is Tense.PAST and c.clause.lemma in STATIVE)
        for c in reading.claims
    )


def _people(reading: Reading) -> frozenset[str]:
    stand_ins = {reading.fact.name, reading.fact.other_name}
    return frozenset(
        t.lower
        for claim in reading.claims
        for t in claim.parsed.tokens
        if t.is_person_name and t.lower not in stand_ins and t.dep != "pobj"
    )


def _statement(party: Party, reading: Reading, check: CheckOutcome) -> Statement:
    return Statement(
        fact=party.input.fact,
        source=party.input.source,
        check=check,
        triples=fact_triples(reading),
        speaker=party.input.speaker.value,
        authority=party.authority,
        observed_at=party.input.observed_at,
        valid_from=party.valid_from,
        valid_to=party.valid_to,
        id=party.id,
        correction=has_update_cue(party.input.source),
        additive=has_additive_cue(party.input.source),
        past=_is_past(party, reading),
        people=_people(reading),
        recalled=is_recalled(party.input.source),
    )

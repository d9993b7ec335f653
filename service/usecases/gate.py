"""The gate: models and parser put to work on sources and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.domain.check import CheckInput, CheckOutcome, Evidence, Scores
from service.domain.clauses import Clause, SpeechAct
from service.domain.decide import decide
from service.domain.entailment import EntailmentScores
from service.domain.evidence import (
    Candidate,
    evidence_of,
    overlap,
    passage,
    rank_candidates,
    trim,
    window,
)
from service.domain.guards.attribution import Attribution, attribution, misattributed
from service.domain.guards.instructions import is_instruction, is_recalled
from service.domain.guards.later import is_taken_back
from service.domain.guards.names import unstated_names
from service.domain.guards.opposition import can_coexist, is_opposed, is_restated
from service.domain.guards.secrets import holds_secret
from service.domain.guards.speech import speech_veto
from service.domain.guards.tense import TenseFinding, tense_finding
from service.domain.guards.values import ValueFinding, ValueReport, compare_values
from service.domain.policy import Policy
from service.domain.reading import Claim, SourcePart, with_stated_values
from service.domain.reasons import reason_sentence
from service.domain.report import signal_report
from service.domain.signals import ClaimSignals, Signals
from service.domain.values import Value
from service.domain.verdicts import Speaker
from service.ports.language import LanguageAnalyser
from service.ports.models import Embedder, EntailmentModel
from service.usecases.reader import Reader, Reading

_MARGIN = 0.05


@dataclass(frozen=True)
class _Located:
    """A clause with the part of the source that it stands in."""

    part: SourcePart
    clause: Clause


@dataclass(frozen=True)
class _Question:
    """One claim against its best evidence, ready for the entailment model."""

    claim: Claim
    ranked: tuple[Candidate, ...]
    best: _Located | None
    values: ValueReport
    source: str
    names: frozenset[str]
    taken_back: bool
    pairs: Mapping[str, tuple[str, str]]


class Gate:
    """Judges facts against their sources; holds no state but its models."""

    def __init__(
        self, *, nli: EntailmentModel, embedder: Embedder, language: LanguageAnalyser
    ) -> None:
        self._nli = nli
        self._embedder = embedder
        self._reader = Reader(language)
        self._languages = language.languages

    def models(self) -> Mapping[str, str]:
        """Return the digest of each model that shapes a verdict, by role."""
        return {
            "nli": self._nli.identity.digest,
            "embedder": self._embedder.identity.digest,
        }

    def judge(self, asked: Sequence[tuple[CheckInput, Policy]]) -> list[CheckOutcome]:
        """Return one outcome per (input, policy), in order, from one inference batch."""
        readings = self._reader.read([i for i, _ in asked])
        questions = self._questions(readings)
        scores = self._scores([q for qs in questions for q in qs])
        outcomes: list[CheckOutcome] = []
        for reading, mine, (_, policy) in zip(readings, questions, asked, strict=True):
            claims = [self._signals(q, scores) for q in mine]
            outcomes.append(_outcome(reading, claims, policy, self._languages))
        return outcomes

    def _questions(self, readings: Sequence[Reading]) -> list[list[_Question]]:
        """Rank the evidence of every claim, from one embedding batch."""
        located = [[_Located(p, c) for p in r.parts for c in p.clauses] for r in readings]
        texts = [_clause_text(x) for group in located for x in group]
        texts += [_spoken(c) for r in readings for c in r.claims]
        unique = list(dict.fromkeys(texts))
        vectors = dict(zip(unique, self._embedder.embed(unique), strict=True)) if unique else {}
        return [
            [_question(claim, group, vectors, reading) for claim in reading.claims]
            for reading, group in zip(readings, located, strict=True)
        ]

    def _scores(self, questions: Sequence[_Question]) -> dict[tuple[str, str], EntailmentScores]:
        pairs = list(dict.fromkeys(p for q in questions for p in q.pairs.values()))
        return dict(zip(pairs, self._nli.classify(pairs), strict=True)) if pairs else {}

    def _signals(
        self, question: _Question, scores: Mapping[tuple[str, str], EntailmentScores]
    ) -> ClaimSignals:
        claim, best = question.claim, question.best
        top = question.ranked[0] if question.ranked else None
        context = best.part.parsed.text if best else ""
        return ClaimSignals(
            text=claim.text,
            phrasings={name: scores[pair] for name, pair in question.pairs.items()},
            evidence=_evidence(best) if best else None,
            relatedness=top.relatedness if top else 0.0,
            overlap=top.overlap if top else 0.0,
            attribution=attribution(claim.clause, best.clause, context)
            if best
            else Attribution.COMPATIBLE,
            misattributed=misattributed(claim.clause, question.ranked, _MARGIN, context),
            speech_veto=speech_veto(claim.clause, best.clause, best.part.parsed) if best else None,
            planned=bool(best) and best.clause.act is SpeechAct.PLAN if best else False,
            tense=tense_finding(claim.clause, best.clause) if best else TenseFinding.FITS,
            taken_back=question.taken_back,
            values=question.values,
            unstated=unstated_names(claim.parsed, question.source, question.names),
            opposed=bool(best) and is_opposed(claim.clause, best.clause) if best else False,
            coexists=can_coexist(claim.clause, best.clause) if best else False,
            restated=is_restated(claim.clause, best.clause) if best else False,
            speaker=best.part.speaker if best else Speaker.USER,
            about_speaker=claim.about_speaker,
        )


def _clause_text(located: _Located) -> str:
    parsed, clause = located.part.parsed, located.clause
    start, end = trim(parsed.text, clause.start, clause.end)
    return parsed.text[start:end] or parsed.text[clause.start : clause.end]


def _spoken(claim: Claim) -> str:
    """Return the claim as the user would say it: "The user" alone would relate any two facts."""
    return claim.first_person or claim.text


def _question(
    claim: Claim,
    located: Sequence[_Located],
    vectors: Mapping[str, NDArray[np.float32]],
    reading: Reading,
) -> _Question:
    asked = reading.asked
    names = frozenset((asked.speaker_name or "").lower().split())
    names |= {"user", reading.fact.name, reading.fact.other_name}
    if not located:
        nothing = ValueReport(ValueFinding.NONE)
        return _Question(claim, (), None, nothing, asked.source, names, False, {})
    target = vectors[_spoken(claim)]
    related = [_relatedness(target, vectors[_clause_text(x)]) for x in located]
    overlaps = [overlap(x.clause.content, claim.clause.content) for x in located]
    ranked = rank_candidates([x.clause for x in located], related, claim.clause, overlaps)
    best = next(x for x in located if x.clause is ranked[0].clause)
    values = compare_values(claim.values, _near(best), [v for p in reading.parts for v in p.values])
    pairs = _phrasings(best, claim, values, asked)
    back = is_taken_back(claim.clause, best.clause, best.part.clauses, _behind(best, reading))
    return _Question(claim, tuple(ranked), best, values, asked.source, names, back, pairs)


def _relatedness(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    return round((float(first @ second) + 1) / 2, 6)


def _behind(best: _Located, reading: Reading) -> list[str]:
    """Return the sentences behind the evidence's: of its turn, then of the user's next turns."""
    own = best.part.parsed
    rest = [own.sentence_text(n) for n in range(best.clause.sentence + 1, len(own.sentences))]
    later = [p for p in reading.parts if p.offset > best.part.offset and p.speaker is Speaker.USER]
    return rest + [p.parsed.sentence_text(n) for p in later for n in range(len(p.parsed.sentences))]


def _near(best: _Located) -> list[list[Value]]:
    part, clause = best.part, best.clause
    sentence = part.parsed.sentences[clause.sentence]
    return [
        part.values_within(clause.start, clause.end),
        part.values_within(sentence.start, sentence.end),
    ]


def _phrasings(
    best: _Located, claim: Claim, values: ValueReport, asked: CheckInput
) -> dict[str, tuple[str, str]]:
    """Return the ways in which one claim is put to the entailment model, by name.

    Each looks at the pair from another side, so that they err apart: the evidence window as it was
    said; the whole passage in the third person; and the speaker quoted, the claim in the first.
    """
    part, clause = best.part, best.clause
    start, end = window(part.parsed, part.clauses, clause)
    first, last = passage(part.parsed, clause, (start, end))
    third = with_stated_values(claim.text, values.equal)
    own = with_stated_values(claim.first_person or claim.text, values.equal)
    said = part.parsed.text
    return {
        "window": (f"{part.speaker.value.capitalize()}: {said[start:end].strip()}", third),
        "third_person": (part.third_person(first, last), third),
        "quoted": (f"{_speaker(part, asked)} said: {said[first:last].strip()}", own),
    }


def _speaker(part: SourcePart, asked: CheckInput) -> str:
    named = asked.speaker_name if part.speaker is Speaker.USER else None
    return named or f"The {part.speaker.value}"


def _evidence(located: _Located) -> Evidence:
    found = evidence_of(located.part.parsed, located.clause)
    shift = located.part.offset
    return Evidence(found.text, found.start + shift, found.end + shift, found.sentence)


def _outcome(
    reading: Reading, claims: Sequence[ClaimSignals], policy: Policy, languages: frozenset[str]
) -> CheckOutcome:
    text = f"{reading.asked.source}\n{reading.asked.fact}"
    signals = Signals(
        claims=tuple(claims),
        language=reading.language,
        language_supported=reading.language in languages & set(policy.languages),
        secret=holds_secret(text),
        instruction=is_instruction(text),
        recalled=is_recalled(reading.asked.source),
    )
    decision = decide(signals, policy)
    claim = claims[decision.claim or 0] if claims else None
    return CheckOutcome(
        verdict=decision.verdict,
        reason_code=decision.reason_code,
        reason=reason_sentence(decision.reason_code, claim, signals.language),
        evidence=claim.evidence if claim else None,
        scores=_reported_scores(claim),
        signals=signal_report(signals),
    )


def _reported_scores(claim: ClaimSignals | None) -> Scores:
    if claim is None:
        return Scores(0.0, 0.0, 0.0, 0.0, 0.0)
    mean = claim.mean
    return Scores(
        entailment=round(mean.entailment, 6),
        neutral=round(mean.neutral, 6),
        contradiction=round(mean.contradiction, 6),
        faithfulness=round(claim.faithfulness, 6),
        relatedness=claim.relatedness,
    )

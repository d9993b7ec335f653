"""Choosing the clause of a source that a verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.check import Evidence
from service.domain.clauses import Clause, SpeechAct
from service.domain.holders import Holder, HolderKind
from service.domain.syntax import ParsedText

PASSAGE = 800
"""Characters of a passage: about what one window of the entailment model holds."""

_OVERLAP_WEIGHT = 0.5
_HOLDER_BONUS = 0.12
_EDGE = " \t\n,;:.!?–—-()[]\"'“”‘’"
_CONNECTIVES = ("and ", "but ", "so ", "or ", "because ", "that ", "then ", "although ", "though ")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause with how well it fits a claim.

    Attributes:
        clause: the clause.
        relatedness: cosine of clause and claim, mapped to 0–1.
        overlap: share of the claim's content lemmas that the clause has, 0–1.
        rank: what candidates are ordered by.
    """

    clause: Clause
    relatedness: float
    overlap: float
    rank: float


def rank_candidates(
    clauses: Sequence[Clause],
    relatedness: Sequence[float],
    claim: Clause,
    lemma_matches: Sequence[float],
) -> list[Candidate]:
    """Return the clauses, best first.

    The rank is relatedness plus half the lexical overlap, plus a bonus for a clause about the same
    holder: in "Sam is bringing the cake; I'm bringing drinks" the fact decides which one counts.
    """
    found = [
        Candidate(c, r, o, r + _OVERLAP_WEIGHT * o + _bonus(c, claim))
        for c, r, o in zip(clauses, relatedness, lemma_matches, strict=True)
    ]
    return sorted(found, key=lambda c: (-c.rank, c.clause.start))


def _bonus(clause: Clause, claim: Clause) -> float:
    bonus = _HOLDER_BONUS if same_holder(clause.holder, claim.holder) else 0.0
    asserted = clause.act in (SpeechAct.ASSERTION, SpeechAct.PLAN)
    return bonus + (0.03 if asserted else 0.0)


def same_holder(first: Holder, second: Holder) -> bool:
    """Return whether two holders can be the same one."""
    if first.kind is second.kind is HolderKind.SPEAKER:
        return True
    return bool(first.names & second.names)


def overlap(clause: frozenset[str], claim: frozenset[str]) -> float:
    """Return the share of the claim's content lemmas that a clause has, 0–1."""
    return len(clause & claim) / len(claim) if claim else 0.0


def evidence_of(parsed: ParsedText, clause: Clause) -> Evidence:
    """Return the clause as a span of the source, without connectives and outer punctuation."""
    start, end = trim(parsed.text, clause.start, clause.end)
    return Evidence(
        text=parsed.text[start:end],
        start=start,
        end=end,
        sentence=parsed.sentence_text(clause.sentence),
    )


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of a span without white space, punctuation and connectives around it."""
    while start < end and text[start] in _EDGE:
        start += 1
    while end > start and text[end - 1] in _EDGE:
        end -= 1
    lowered = text[start:end].lower()
    for word in _CONNECTIVES:
        if lowered.startswith(word) and len(lowered) > len(word):
            return trim(text, start + len(word), end)
        if lowered.endswith(" " + word.strip()):
            return trim(text, start, end - len(word))
    return start, end


def window(parsed: ParsedText, clauses: Sequence[Clause], clause: Clause) -> tuple[int, int]:
    """Return the offsets of the passage in which a clause is to be read.

    Its sentence; the sentence before, which holds the antecedent ("I called my brother. Works as a
    lawyer."); and the one after when it goes on about the same third party ("He put all his
    savings into it."). What somebody reports about the speaker stands by itself: "my friend said"
    must not drown it.
    """
    if clause.act is SpeechAct.REPORTED and clause.holder.kind is HolderKind.SPEAKER:
        return trim(parsed.text, clause.start, clause.end)
    first = max(0, clause.sentence - 1)
    last = clause.sentence
    if any(_continues(c, clause) for c in clauses if c.sentence == clause.sentence + 1):
        last += 1
    return parsed.sentences[first].start, parsed.sentences[last].end


def _continues(later: Clause, clause: Clause) -> bool:
    return clause.holder.is_third_party and same_holder(later.holder, clause.holder)


def passage(parsed: ParsedText, clause: Clause, evidence: tuple[int, int]) -> tuple[int, int]:
    """Return the offsets of the whole text, or of what fits around the evidence.

    A long source must not drown a supporting sentence: at most ``PASSAGE`` characters, grown by
    whole sentences to both sides of the evidence window.
    """
    start, end = evidence
    if clause.act is SpeechAct.REPORTED and clause.holder.kind is HolderKind.SPEAKER:
        return start, end
    for sentence in reversed(parsed.sentences[: clause.sentence]):
        if end - sentence.start <= PASSAGE:
            start = min(start, sentence.start)
    for sentence in parsed.sentences[clause.sentence :]:
        if sentence.end - start <= PASSAGE:
            end = max(end, sentence.end)
    return start, end

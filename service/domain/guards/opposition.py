"""Can the evidence contradict the claim at all?"""

from __future__ import annotations

from service.domain.clauses import Clause, SpeechAct
from service.domain.holders import HolderKind
from service.domain.lexicon.opposites import opposite
from service.domain.lexicon.verbs import MULTI_VALUED

_ASSERTED = frozenset({SpeechAct.ASSERTION, SpeechAct.PLAN, SpeechAct.REPORTED})
_POSSESSION = frozenset({"have", "own"})
_LOSS = frozenset("sell lose die pass give return break donate rehome bury".split())
_LIGHT = frozenset({"be", "have", "get", "go", "do"})


def can_coexist(claim: Clause, evidence: Clause) -> bool:
    """Return whether claim and evidence may both hold because their predicate has many values.

    "I have three cats" and "has a dog", "plays the violin" and "plays tennis": entailment models
    call such pairs contradictory, since in their training data two captions describe one picture.
    Only differing polarity, an opposite, or a shared object makes them so.
    """
    if claim.negative != evidence.negative:
        return False
    if any(opposite(a, b) for a in _words(claim) for b in _words(evidence)):
        return False
    if claim.lemma in _POSSESSION and evidence.lemma in _LOSS:
        return True  # one was sold or died; there may be another
    if claim.ended != evidence.ended:
        return False
    both = claim.lemma in MULTI_VALUED and evidence.lemma in MULTI_VALUED
    objects = claim.content - {claim.lemma}
    return both and not (objects & evidence.content)


def is_restated(claim: Clause, evidence: Clause) -> bool:
    """Return whether the evidence says the claim's words with the same predicate and polarity.

    A model that calls this a contradiction is misled by what stands around it ("Hi! … Bye").
    """
    same = claim.lemma == evidence.lemma and claim.complement == evidence.complement
    alike = claim.negative == evidence.negative and claim.ended == evidence.ended
    return same and alike and bool(claim.content) and claim.content <= evidence.content


def is_opposed(claim: Clause, evidence: Clause) -> bool:
    """Return whether polarity or an opposite on the same predicate sets the two against each other.

    The claim's content must otherwise be in the evidence: "job is disabled" / "job is enabled".
    """
    if evidence.act not in _ASSERTED or not _same_subject(claim, evidence):
        return False
    shared = claim.content & evidence.content
    rest = claim.content - shared
    same = claim.lemma == evidence.lemma and claim.complement == evidence.complement
    if not rest and shared and same:
        return claim.negative != evidence.negative and claim.ended == evidence.ended
    opposed = {w for w in rest if any(opposite(w, other) for other in _words(evidence))}
    return bool(opposed) and rest <= opposed and claim.negative == evidence.negative


def _same_subject(claim: Clause, evidence: Clause) -> bool:
    first, second = claim.holder, evidence.holder
    if HolderKind.SPEAKER in (first.kind, second.kind):
        return first.kind is second.kind
    return bool(first.names & second.names)


def _words(clause: Clause) -> frozenset[str]:
    extra = {clause.complement} if clause.complement else set()
    return clause.content | extra | ({clause.lemma} - _LIGHT)

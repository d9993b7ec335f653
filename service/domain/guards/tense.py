"""Is a state that has ended claimed as present, or an event claimed as never having been?"""

from __future__ import annotations

from enum import StrEnum

from service.domain.clauses import Clause, Tense

STATIVE = frozenset(
    "be live work have own use play study like love teach drive smoke eat drink belong attend run "
    "manage reside speak rent lead serve volunteer train know want need believe".split()
)


_PARTING = frozenset("sell lose give return donate remove take rehome ditch bin scrap".split())


class TenseFinding(StrEnum):
    """How the time of the evidence fits the time of the claim."""

    FITS = "fits"
    ENDED = "ended"
    PAST_ONLY = "past_only"


def tense_finding(claim: Clause, evidence: Clause) -> TenseFinding:
    """Return whether the claim's tense is justified.

    "I used to work in a bakery" / "works in a bakery" is ENDED: the source itself says that it no
    longer holds. "I worked in a bakery" / "works in a bakery" is PAST_ONLY: it does not say. A past
    event may well leave a present state ("moved to" / "lives in"), so only the same stative
    predicate is compared.
    """
    if claim.negative or claim.ended or claim.tense not in (Tense.PRESENT, Tense.FUTURE):
        return TenseFinding.FITS
    if claim.lemma in ("have", "own") and evidence.lemma in _PARTING:
        return TenseFinding.PAST_ONLY
    if not _same_state(claim, evidence):
        return TenseFinding.FITS
    if evidence.tense is Tense.PAST_HABIT or (evidence.ended and not evidence.negative):
        return TenseFinding.ENDED
    stative = claim.lemma in STATIVE and claim.lemma == evidence.lemma
    if stative and evidence.tense is Tense.PAST and claim.complement == evidence.complement:
        return TenseFinding.PAST_ONLY
    return TenseFinding.FITS


def _same_state(claim: Clause, evidence: Clause) -> bool:
    """Return whether both speak of the same predicate and share what it is said of."""
    if claim.lemma != "be" and claim.lemma == evidence.lemma:
        shared = claim.content & evidence.content
        return bool(shared - {claim.lemma}) or claim.content <= {claim.lemma}
    if claim.lemma in evidence.content and claim.content <= evidence.content:
        return True
    return (
        claim.lemma == "be" and bool(claim.complement) and claim.complement == evidence.complement
    )

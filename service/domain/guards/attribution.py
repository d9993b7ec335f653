"""Is the evidence about the one whom the fact is about?"""

from __future__ import annotations

from enum import StrEnum

from service.domain.clauses import Clause, SpeechAct
from service.domain.evidence import Candidate, same_holder
from service.domain.holders import Holder, HolderKind
from service.domain.lexicon.kinship import same_relation

_OWNING = frozenset({"have", "own", "keep", "possess"})


class Attribution(StrEnum):
    """How the holder of the evidence relates to the subject of the fact."""

    SAME = "same"
    AFFECTED = "affected"
    COMPATIBLE = "compatible"
    DIFFERENT = "different"


def attribution(claim: Clause, evidence: Clause) -> Attribution:
    """Return whether a clause can justify a claim about the claim's subject.

    A claim about the speaker needs a clause about the speaker, one that happens to the speaker
    ("my doctor diagnosed me"), or one about something of theirs. A claim about somebody else needs
    that somebody: by name, by relation, or through an unresolved pronoun.
    """
    if claim.holder.kind is HolderKind.SPEAKER:
        return _about_speaker(claim, evidence)
    if claim.holder.is_third_party:
        return _about_other(claim.holder, evidence.holder)
    return Attribution.COMPATIBLE


def _about_speaker(claim: Clause, evidence: Clause) -> Attribution:
    holder = evidence.holder
    if holder.kind is HolderKind.SPEAKER:
        elsewhere = _belongs_elsewhere(claim, evidence)
        return Attribution.DIFFERENT if elsewhere else Attribution.SAME
    if holder.kind is HolderKind.ADDRESSEE and evidence.act is SpeechAct.QUESTION:
        return Attribution.COMPATIBLE
    if _belongs_elsewhere(claim, evidence):
        return Attribution.DIFFERENT
    if _mentions(claim, holder):
        return Attribution.COMPATIBLE
    if evidence.speaker_affected and not _same_predicate(claim, evidence):
        return Attribution.AFFECTED
    if holder.is_third_party or holder.kind is HolderKind.ADDRESSEE:
        return Attribution.DIFFERENT
    if holder.kind is HolderKind.THING and _same_predicate(claim, evidence):
        return Attribution.DIFFERENT
    if holder.kind is HolderKind.POSSESSION and _same_description(claim, evidence):
        return Attribution.DIFFERENT
    return Attribution.COMPATIBLE


def _belongs_elsewhere(claim: Clause, evidence: Clause) -> bool:
    """Return whether what the claim has the speaker own is somebody else's in the evidence."""
    owned = claim.content - {claim.lemma}
    return claim.lemma in _OWNING and bool(owned & evidence.owned_by_others)


def _mentions(claim: Clause, holder: Holder) -> bool:
    """Return whether the claim speaks of the holder: "The user has a son" of "my son plays …"."""
    return any(name in claim.content or same_relation_in(name, claim.content) for name in holder.names)


def same_relation_in(name: str, words: frozenset[str]) -> bool:
    """Return whether one of the words names the same relation ("mum", "mother")."""
    return any(same_relation(name, word) for word in words)


def _same_predicate(claim: Clause, evidence: Clause) -> bool:
    if claim.lemma == "be" or evidence.lemma == "be":
        return bool(claim.complement) and claim.complement == evidence.complement
    return claim.lemma == evidence.lemma


def _same_description(claim: Clause, evidence: Clause) -> bool:
    """Return whether a description of a thing is claimed of its owner ("my car is old")."""
    named = evidence.holder.noun in _TELLING_POSSESSIONS
    return _same_predicate(claim, evidence) and not named


_TELLING_POSSESSIONS = frozenset(
    "name nickname surname job profession occupation role title position nationality status gender "
    "age religion diagnosis condition sign background major hobby passion goal dream favourite "
    "favorite preference birthday".split()
)


def _about_other(subject: Holder, holder: Holder) -> Attribution:
    if same_holder(subject, holder) or _same_relation(subject, holder):
        return Attribution.SAME
    if holder.kind in (HolderKind.PRONOUN, HolderKind.THING, HolderKind.UNKNOWN):
        return Attribution.COMPATIBLE
    if subject.kind is HolderKind.PRONOUN:
        return Attribution.COMPATIBLE
    if subject.kind is HolderKind.NAMED and holder.kind is HolderKind.POSSESSION:
        return Attribution.COMPATIBLE
    return Attribution.DIFFERENT


def _same_relation(first: Holder, second: Holder) -> bool:
    return any(same_relation(a, b) for a in first.names for b in second.names)


def misattributed(claim: Clause, ranked: list[Candidate], margin: float) -> bool:
    """Return whether the evidence belongs to somebody else.

    Only the best clause counts, and those that fit about as well (within ``margin`` of its rank):
    a third party mentioned elsewhere in the source is nobody's business.
    """
    if not ranked:
        return False
    best = ranked[0].rank
    close = [c for c in ranked if best - c.rank <= margin]
    findings = [attribution(claim, c.clause) for c in close]
    return findings[0] is Attribution.DIFFERENT and Attribution.SAME not in findings

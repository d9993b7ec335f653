"""Is the evidence about the one whom the fact is about?"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from service.domain.clauses import Clause, SpeechAct
from service.domain.evidence import Candidate, same_holder
from service.domain.guards.names import is_mentioned
from service.domain.holders import Holder, HolderKind
from service.domain.lexicon.kinship import implied_by, same_relation

_OWNING = frozenset({"have", "own", "keep", "possess"})


class Attribution(StrEnum):
    """How the holder of the evidence relates to the subject of the fact."""

    SAME = "same"
    AFFECTED = "affected"
    COMPATIBLE = "compatible"
    DIFFERENT = "different"


def attribution(claim: Clause, evidence: Clause, passage: str) -> Attribution:
    """Return whether a clause can justify a claim about the claim's subject.

    A claim about the speaker needs a clause about the speaker, one that happens to the speaker
    ("my doctor diagnosed me"), or one about something of theirs. A claim about somebody else needs
    that somebody: by name, by relation, or through an unresolved pronoun. ``passage`` is the text
    in which the clause is read; a name must be mentioned there, and not only be addressed.
    """
    if claim.holder.kind is HolderKind.SPEAKER:
        return _about_speaker(claim, evidence)
    if claim.holder.is_third_party or claim.holder.owner:
        return _about_other(claim, evidence, passage)
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
    words = claim.content | {claim.complement}
    return any(
        name in words or same_relation_in(name, words) or implied_by(name) & words
        for name in holder.names
    )


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


def _about_other(claim: Clause, evidence: Clause, passage: str) -> Attribution:
    subject, holder = claim.holder, evidence.holder
    if subject.owner:
        stated = is_mentioned(subject.owner, passage)
        return Attribution.COMPATIBLE if stated else Attribution.DIFFERENT
    if same_holder(subject, holder) or _same_relation(subject, holder):
        return Attribution.SAME
    if subject.kind is HolderKind.PRONOUN:
        return Attribution.COMPATIBLE
    if holder.kind in _SOMEBODY:
        return Attribution.DIFFERENT
    if subject.kind is HolderKind.NAMED:
        stated = is_mentioned(subject.noun, passage)
        return Attribution.COMPATIBLE if stated else Attribution.DIFFERENT
    return Attribution.COMPATIBLE


_SOMEBODY = frozenset(
    {
        HolderKind.SPEAKER,
        HolderKind.ADDRESSEE,
        HolderKind.RELATED,
        HolderKind.NAMED,
        HolderKind.OTHER_PERSON,
    }
)


def _same_relation(first: Holder, second: Holder) -> bool:
    others = second.names | ({second.owner} if second.owner else set())
    return any(same_relation(a, b) for a in first.names for b in others)


def misattributed(claim: Clause, ranked: Sequence[Candidate], margin: float, passage: str) -> bool:
    """Return whether the evidence belongs to somebody else.

    Only the best clause counts, and those that fit about as well (within ``margin`` of its rank):
    a third party mentioned elsewhere in the source is nobody's business.
    """
    if not ranked:
        return False
    best = ranked[0].rank
    close = [c for c in ranked if best - c.rank <= margin]
    findings = [attribution(claim, c.clause, passage) for c in close]
    if claim.holder.is_third_party or claim.holder.owner:
        return findings[0] is Attribution.DIFFERENT
    return findings[0] is Attribution.DIFFERENT and Attribution.SAME not in findings

"""The rules by which memories replace, repeat, contradict or leave each other alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.adjudication import (
    AdjudicationOutcome,
    AdjudicationReason,
    AdjudicationVerdict,
    PairFinding,
    PairSignals,
    Relation,
    Statement,
)
from service.domain.attributes import is_functional
from service.domain.memory import Triple
from service.domain.policy import Policy
from service.domain.verdicts import CONTRADICTION_KINDS, ReasonCode, Verdict

_ALIKE = 0.85
_CONTRADICTS = 0.6
_SURELY_CONTRADICTS = 0.8
_RELATED = 0.6
_SAME_SUBJECT = 0.7
_OTHERS = frozenset({"assistant", "system", "tool"})
_ARTICLES = re.compile(r"^(?:the|a|an|my|our|his|her|their)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """An existing memory beside the incoming one.

    Attributes:
        existing: the memory.
        signals: what the models say about the two facts.
        cross: what the gate says about the existing fact given the incoming source.
        subject_similarity: cosine of the two subjects, mapped to 0–1; 1.0 when they are equal.
    """

    existing: Statement
    signals: PairSignals
    cross: ReasonCode
    subject_similarity: float


def adjudicate(
    incoming: Statement,
    pairs: Sequence[Pair],
    policy: Policy,
    functional: Mapping[str, bool],
) -> AdjudicationOutcome:
    """Return what becomes of an incoming memory and of each existing one.

    The incoming one has to be faithful to its own source before it may replace anything; then the
    relation to each existing memory decides, and for those it would replace, the evidence.
    """
    refusal = _refusal(incoming, policy)
    relations = [_relation(incoming, p, functional) for p in pairs]
    if refusal is not None:
        findings = [_kept(r, refusal[1], refusal[2]) for r in relations]
        return AdjudicationOutcome(*refusal, tuple(findings))
    weighed = [_weigh(incoming, p, r, policy) for p, r in zip(pairs, relations, strict=True)]
    return _summary([w.finding for w in weighed], [w.verdict for w in weighed])


def _refusal(incoming: Statement, policy: Policy) -> tuple[AdjudicationVerdict, str, str] | None:
    """Return why the incoming memory may not be looked at further, if so."""
    check = incoming.check
    if incoming.recalled:
        return (
            AdjudicationVerdict.BLOCK,
            AdjudicationReason.NOT_NEW_EVIDENCE.value,
            "A recalled memory fed back is not new evidence.",
        )
    if check.verdict is Verdict.STORE:
        return None
    if check.reason_code in CONTRADICTION_KINDS and check.verdict is Verdict.REJECT:
        return (
            AdjudicationVerdict.BLOCK,
            check.reason_code.value,
            f"The incoming memory contradicts its own source. {check.reason}",
        )
    blocked = incoming.speaker in _OTHERS
    if not policy.overwrite_requires_faithful and not blocked:
        return None
    return (
        AdjudicationVerdict.BLOCK if blocked else AdjudicationVerdict.REVIEW,
        AdjudicationReason.INCOMING_UNSUPPORTED.value,
        f"The incoming memory is not supported by its own source. {check.reason}",
    )


def _kept(relation: Relation, reason_code: str, reason: str) -> PairFinding:
    """Return the finding for a memory that a refused one leaves untouched."""
    shown = Relation.CONFLICTS if relation is Relation.SUPERSEDES else relation
    return PairFinding(shown, True, reason_code, reason)


@dataclass(frozen=True, slots=True)
class _Weighed:
    finding: PairFinding
    verdict: AdjudicationVerdict


def _weigh(incoming: Statement, pair: Pair, relation: Relation, policy: Policy) -> _Weighed:
    """Return the finding for one existing memory and what it means for the incoming one."""
    if relation is Relation.DUPLICATE:
        return _accept(relation, AdjudicationReason.DUPLICATE, "Both say the same.", stays=True)
    if relation is Relation.COEXISTS:
        apart = _disjoint(incoming, pair.existing)
        code = AdjudicationReason.DISJOINT_INTERVALS if apart else AdjudicationReason.COEXISTS
        found = _accept(relation, code, "Both can hold.", stays=True)
        settled = apart or _apart(incoming, pair.existing)
        return replace(found, finding=replace(found.finding, settled=settled))
    if relation is Relation.CONFLICTS:
        if _lower_authority(incoming, pair.existing, policy):
            return _outranked()
        return _accept(
            relation,
            AdjudicationReason.COEXISTS,
            "They cannot both be true, and nothing says which one replaces the other.",
            stays=True,
        )
    return _evidence(incoming, pair, policy)


def _evidence(incoming: Statement, pair: Pair, policy: Policy) -> _Weighed:
    """Return whether the evidence is good enough to replace an existing memory."""
    existing = pair.existing
    if _lower_authority(incoming, existing, policy):
        return _outranked()
    if _older(incoming.observed_at, existing.observed_at):
        return _stopped(
            AdjudicationVerdict.REVIEW,
            AdjudicationReason.NOT_NEW_EVIDENCE,
            "The incoming memory was said before the existing one.",
        )
    strength = existing.check.scores.faithfulness if existing.check.verdict is Verdict.STORE else 0
    weaker = incoming.check.scores.faithfulness + policy.overwrite_margin < strength
    if weaker and not incoming.correction:
        return _stopped(
            AdjudicationVerdict.REVIEW,
            AdjudicationReason.WEAKER_EVIDENCE,
            "The incoming memory is supported less well than the existing one.",
        )
    return _accept(
        Relation.SUPERSEDES,
        AdjudicationReason.UPDATE,
        "The incoming memory replaces this one.",
        stays=False,
    )


def _outranked() -> _Weighed:
    return _stopped(
        AdjudicationVerdict.BLOCK,
        AdjudicationReason.LOWER_AUTHORITY,
        "The existing memory has the higher authority.",
    )


def _accept(relation: Relation, code: AdjudicationReason, reason: str, *, stays: bool) -> _Weighed:
    return _Weighed(PairFinding(relation, stays, code.value, reason), AdjudicationVerdict.ACCEPT)


def _stopped(verdict: AdjudicationVerdict, code: AdjudicationReason, reason: str) -> _Weighed:
    return _Weighed(PairFinding(Relation.CONFLICTS, True, code.value, reason), verdict)


def _summary(
    findings: Sequence[PairFinding], verdicts: Sequence[AdjudicationVerdict]
) -> AdjudicationOutcome:
    for worst in (AdjudicationVerdict.BLOCK, AdjudicationVerdict.REVIEW):
        for finding, verdict in zip(findings, verdicts, strict=True):
            if verdict is worst:
                kept = tuple(_undone(f) for f in findings)
                return AdjudicationOutcome(worst, finding.reason_code, finding.reason, kept)
    for code in (
        AdjudicationReason.UPDATE,
        AdjudicationReason.DUPLICATE,
        AdjudicationReason.DISJOINT_INTERVALS,
    ):
        for finding in findings:
            if finding.reason_code == code.value:
                return AdjudicationOutcome(
                    AdjudicationVerdict.ACCEPT, code.value, finding.reason, tuple(findings)
                )
    return AdjudicationOutcome(
        AdjudicationVerdict.ACCEPT,
        AdjudicationReason.COEXISTS.value,
        "Nothing stored says otherwise.",
        tuple(findings),
    )


def _undone(finding: PairFinding) -> PairFinding:
    """Return a finding for a memory that stays because the incoming one was stopped elsewhere."""
    if finding.stays_active:
        return finding
    return PairFinding(Relation.CONFLICTS, True, finding.reason_code, finding.reason)


def _relation(incoming: Statement, pair: Pair, functional: Mapping[str, bool]) -> Relation:
    """Return how the incoming fact stands to an existing one, evidence apart."""
    existing = pair.existing
    matches = [(a, b) for a in incoming.triples for b in existing.triples if _same_slot(a, b)]
    if incoming.past is not existing.past:
        return Relation.COEXISTS
    if any(same_value(a, b) and a.polarity is b.polarity for a, b in matches) or _alike(pair):
        return Relation.COEXISTS if _disjoint(incoming, existing) else Relation.DUPLICATE
    if not _same_subject(incoming, pair):
        return _across_subjects(pair)
    if _apart(incoming, existing):
        return Relation.COEXISTS
    for a, b in matches:
        if a.polarity is not b.polarity and same_value(a, b):
            return Relation.SUPERSEDES
        if is_functional(a.attribute, functional) and a.polarity and b.polarity:
            added = incoming.additive and not incoming.correction
            return Relation.COEXISTS if added else Relation.SUPERSEDES
    return _by_models(incoming, pair, has_slot=bool(matches))


def _apart(incoming: Statement, existing: Statement) -> bool:
    """Return whether time or person keeps two facts of one slot from competing.

    "I lived in Oslo in 2010" says nothing against "I live in Rome", nor "my sister Eva lives in
    Oslo" against "my sister Ana lives in Rome", nor "my other brother" against anybody.
    """
    if incoming.past is not existing.past:
        return True
    subjects = {t.subject for t in incoming.triples}
    if not any(s.startswith("user.") for s in subjects):
        return False
    if incoming.people != existing.people and (incoming.people or existing.people):
        return not incoming.correction or bool(incoming.people and existing.people)
    return bool(_ANOTHER.search(incoming.fact))


_ANOTHER = re.compile(
    r"\b(?:other|another|second|third|younger|older|elder|youngest|oldest|eldest|half|step)\b",
    re.IGNORECASE,
)


def _by_models(incoming: Statement, pair: Pair, *, has_slot: bool) -> Relation:
    """Return the relation of two facts about one subject that no attribute settles."""
    contradicted = pair.cross in CONTRADICTION_KINDS
    opposed = pair.signals.contradiction >= _CONTRADICTS
    related = pair.signals.relatedness >= _RELATED
    if contradicted and incoming.correction:
        return Relation.SUPERSEDES
    if has_slot and not contradicted:
        return Relation.COEXISTS
    if opposed and related and incoming.correction:
        return Relation.SUPERSEDES
    sure = pair.signals.contradiction >= _SURELY_CONTRADICTS and related
    return Relation.CONFLICTS if contradicted and sure else Relation.COEXISTS


def _across_subjects(pair: Pair) -> Relation:
    """Return the relation of facts about different things: a value in both may now disagree."""
    mismatch = pair.cross in (ReasonCode.DATE_MISMATCH, ReasonCode.NUMBER_MISMATCH)
    sure = pair.signals.contradiction >= _SURELY_CONTRADICTS
    return Relation.CONFLICTS if mismatch and sure else Relation.COEXISTS


def _same_slot(first: Triple, second: Triple) -> bool:
    return first.subject == second.subject and first.attribute == second.attribute


def _same_subject(incoming: Statement, pair: Pair) -> bool:
    first = {t.subject for t in incoming.triples}
    second = {t.subject for t in pair.existing.triples}
    if first & second:
        return True
    if _numbers(first) != _numbers(second) or _persons(first) or _persons(second):
        return False
    return pair.subject_similarity >= _SAME_SUBJECT


def _numbers(subjects: set[str]) -> set[str]:
    return {n for s in subjects for n in re.findall(r"\d+", s)}


def _persons(subjects: set[str]) -> bool:
    return any(s == "user" or s.startswith("user.") for s in subjects)


def same_value(first: Triple, second: Triple) -> bool:
    """Return whether two values are the same but for case, articles, accents and spaces."""
    return normal_value(first.value) == normal_value(second.value)


def normal_value(value: str) -> str:
    """Return a value in the form in which values are compared."""
    text = unicodedata.normalize("NFKC", value).casefold().strip(" .,;:!?\"'")
    return " ".join(_ARTICLES.sub("", text).split())


def _alike(pair: Pair) -> bool:
    """Return whether each fact entails the other."""
    signals = pair.signals
    return min(signals.forward_entailment, signals.backward_entailment) >= _ALIKE


def _disjoint(first: Statement, second: Statement) -> bool:
    """Return whether two validity intervals do not touch; an open end reaches for ever."""
    return _ends_before(first, second) or _ends_before(second, first)


def _ends_before(first: Statement, second: Statement) -> bool:
    return (
        first.valid_to is not None
        and second.valid_from is not None
        and first.valid_to < second.valid_from
    )


def _lower_authority(incoming: Statement, existing: Statement, policy: Policy) -> bool:
    order = policy.authority_order
    if incoming.authority not in order or existing.authority not in order:
        return False
    return order.index(incoming.authority or "") > order.index(existing.authority or "")


def _older(incoming: datetime | None, existing: datetime | None) -> bool:
    return incoming is not None and existing is not None and incoming < existing

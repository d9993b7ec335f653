"""Does the evidence assert what the fact asserts?"""

from __future__ import annotations

from service.domain.clauses import Clause, SpeechAct, Tense
from service.domain.holders import HolderKind
from service.domain.syntax import ParsedText
from service.domain.verdicts import ReasonCode

_ASKING = frozenset(
    "ask want need look seek inquire wonder request help plan consider interested curious search "
    "try hope think discuss talk".split()
)
_ORDERED = frozenset("prefer want like use need wish require expect choose".split())
_DEFINITE = frozenset("my our this these that those".split())


def speech_veto(claim: Clause, evidence: Clause, parsed: ParsedText) -> ReasonCode | None:
    """Return why a clause does not commit its speaker to the claim, or None if it does.

    A question supports a claim about the asking, and what it takes for granted ("this Python
    error"); a plan supports a claim about the plan.
    """
    act = evidence.act
    if act is SpeechAct.QUOTATION:
        return ReasonCode.QUOTED_OR_REPORTED
    if act is SpeechAct.REPORTED:
        return _reported(evidence)
    if act in (SpeechAct.QUESTION, SpeechAct.HYPOTHETICAL):
        ok = _about_the_asking(claim) or _presupposed(claim, evidence, parsed)
        same = act is SpeechAct.HYPOTHETICAL and claim.act is SpeechAct.HYPOTHETICAL
        return None if ok or same else ReasonCode.QUESTION_OR_HYPOTHETICAL
    if act is SpeechAct.PLAN:
        return _planned(claim, evidence)
    if act is SpeechAct.IMPERATIVE and claim.holder.kind is HolderKind.SPEAKER:
        return (
            None if claim.lemma in _ORDERED or _about_the_asking(claim) else ReasonCode.INSTRUCTION
        )
    return None


def _reported(evidence: Clause) -> ReasonCode | None:
    """Let pass what others say about the speaker, and what somebody says about themselves."""
    if evidence.holder.kind is HolderKind.SPEAKER:
        return None
    source = evidence.attributed_to
    if source is not None and source.kind is HolderKind.SPEAKER:
        return None
    if source is not None and source.names & evidence.holder.names:
        return None
    return ReasonCode.QUOTED_OR_REPORTED


def _about_the_asking(claim: Clause) -> bool:
    if claim.holder.kind is not HolderKind.SPEAKER:
        return False
    return claim.lemma in _ASKING or claim.complement in _ASKING


def _presupposed(claim: Clause, evidence: Clause, parsed: ParsedText) -> bool:
    """Return whether the claim only restates a definite noun phrase of the question."""
    wanted = claim.content - {"have", "use", "own"}
    return bool(wanted) and wanted <= _definite_lemmas(evidence, parsed)


def _definite_lemmas(evidence: Clause, parsed: ParsedText) -> frozenset[str]:
    found: set[str] = set()
    for index in evidence.tokens:
        token = parsed.tokens[index]
        determiners = parsed.dependents(token, "poss", "det")
        if any(d.lower in _DEFINITE for d in determiners):
            found |= {t.lemma for t in parsed.subtree(token)}
    return frozenset(found)


def _planned(claim: Clause, evidence: Clause) -> ReasonCode | None:
    """Return the veto of a plan on a claim that the planned thing is or was so."""
    if claim.act is SpeechAct.PLAN or _about_the_asking(claim):
        return None
    done = claim.tense in (Tense.PRESENT, Tense.PAST, Tense.PERFECT)
    same_wish = claim.lemma == evidence.lemma and claim.tense is evidence.tense
    return ReasonCode.QUESTION_OR_HYPOTHETICAL if done and not same_wish else None

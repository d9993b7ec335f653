"""From signals to a verdict: the only place where one is chosen."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.guards.tense import TenseFinding
from service.domain.guards.values import ValueFinding
from service.domain.policy import Policy
from service.domain.signals import ClaimSignals, Signals
from service.domain.verdicts import (
    CONTRADICTION_KINDS,
    GuardAction,
    ReasonCode,
    Speaker,
    Verdict,
)

_VALUE_REASONS = {
    ValueFinding.NUMBER: ReasonCode.NUMBER_MISMATCH,
    ValueFinding.DATE: ReasonCode.DATE_MISMATCH,
    ValueFinding.UNIT: ReasonCode.UNIT_MISMATCH,
}


_SURE, _LIKELY, _CLOSE = 0.9, 0.6, 0.69


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, why, and which claim it rests on (None: on the text as a whole)."""

    verdict: Verdict
    reason_code: ReasonCode
    claim: int | None = None


def decide(signals: Signals, policy: Policy) -> Decision:
    """Return the verdict that a policy gives to what was found.

    Whole-text guards come first, then each claim by itself; a contradicted claim decides, all
    supported claims STORE, and some supported claims are REVIEWed as partially supported.
    """
    whole = _whole_text(signals, policy)
    if whole is not None:
        return _verdict(whole, policy, None)
    reasons = [_claim(c, policy) for c in signals.claims]
    if not reasons:
        return _verdict(ReasonCode.UNSUPPORTED, policy, None)
    for index, reason in enumerate(reasons):
        if reason in CONTRADICTION_KINDS:
            return _verdict(reason, policy, index)
    unsupported = [i for i, r in enumerate(reasons) if r is not ReasonCode.SUPPORTED]
    if not unsupported:
        return _verdict(ReasonCode.SUPPORTED, policy, 0)
    if len(unsupported) < len(reasons):
        return _verdict(ReasonCode.PARTIALLY_SUPPORTED, policy, unsupported[0])
    return _verdict(reasons[0], policy, 0)


def _verdict(reason: ReasonCode, policy: Policy, claim: int | None) -> Decision:
    if reason is ReasonCode.SUPPORTED:
        return Decision(Verdict.STORE, reason, claim)
    rejected = reason.value in policy.reject_on and _may_reject(reason, policy)
    return Decision(Verdict.REJECT if rejected else Verdict.REVIEW, reason, claim)


def _may_reject(reason: ReasonCode, policy: Policy) -> bool:
    guard = _GUARD_OF.get(reason)
    return guard is None or policy.guard(guard) is GuardAction.REJECT


_GUARD_OF = {
    ReasonCode.NUMBER_MISMATCH: "values",
    ReasonCode.DATE_MISMATCH: "values",
    ReasonCode.UNIT_MISMATCH: "values",
    ReasonCode.TENSE_MISMATCH: "tense",
    ReasonCode.SECRET: "secret",
    ReasonCode.TOXIC: "toxicity",
    ReasonCode.INSTRUCTION: "instruction",
}


def _whole_text(signals: Signals, policy: Policy) -> ReasonCode | None:
    if not signals.language_supported and _on(policy, "language"):
        return ReasonCode.UNSUPPORTED_LANGUAGE
    if signals.secret and _on(policy, "secret"):
        return ReasonCode.SECRET
    if signals.instruction and _on(policy, "instruction"):
        return ReasonCode.INSTRUCTION
    toxic = signals.toxicity is not None and signals.toxicity >= policy.toxicity_threshold
    return ReasonCode.TOXIC if toxic and _on(policy, "toxicity") else None


def _claim(claim: ClaimSignals, policy: Policy) -> ReasonCode:
    """Return the reason code of one claim; the order of the questions is the order of harm."""
    entailed = _entailed(claim, policy)
    related = claim.relatedness >= policy.min_relatedness or claim.overlap > 0
    veto = _veto(claim, policy, engaged=entailed or related)
    if veto is not None:
        return veto
    if _contradicted(claim, policy):
        return ReasonCode.CONTRADICTED if related else ReasonCode.UNRELATED
    if not entailed:
        return ReasonCode.UNSUPPORTED if related else ReasonCode.UNRELATED
    absent = claim.values.finding is ValueFinding.ABSENT or bool(claim.unstated)
    if absent and _on(policy, "values"):
        return ReasonCode.PARTIALLY_SUPPORTED
    past = claim.taken_back or claim.tense is TenseFinding.PAST_ONLY
    if past and _on(policy, "tense"):
        return ReasonCode.UNSUPPORTED
    return ReasonCode.SUPPORTED


def _veto(claim: ClaimSignals, policy: Policy, *, engaged: bool) -> ReasonCode | None:
    """Return the veto of the guards that ask whose words these are and what they commit to.

    They only speak when the evidence has something to do with the claim (``engaged``).
    """
    if not engaged:
        return None
    if claim.about_speaker and claim.speaker is not Speaker.USER and _on(policy, "speaker"):
        return ReasonCode.NOT_THE_SPEAKER
    if claim.misattributed and policy.check_attribution:
        return ReasonCode.MISATTRIBUTED
    ruled_out = claim.planned and _contradicted(claim, policy)
    if claim.speech_veto is not None and not ruled_out and _on(policy, "speech_act"):
        return claim.speech_veto
    if claim.values.finding in _VALUE_REASONS and _on(policy, "values"):
        return _VALUE_REASONS[claim.values.finding]
    if claim.tense is TenseFinding.ENDED and _on(policy, "tense"):
        return ReasonCode.TENSE_MISMATCH
    return None


def _entailed(claim: ClaimSignals, policy: Policy) -> bool:
    agreed = claim.faithfulness >= policy.store_threshold
    return agreed and claim.objection < policy.contradiction_threshold and not claim.opposed


def _contradicted(claim: ClaimSignals, policy: Policy) -> bool:
    if claim.opposed:
        return True
    doubt = claim.mean.contradiction
    if claim.coexists or doubt < policy.contradiction_threshold:
        return False
    if claim.restated and doubt < _SURE:
        return False
    return claim.overlap > 0 or _sure_enough(doubt, claim.relatedness)


def _sure_enough(contradiction: float, relatedness: float) -> bool:
    """Return whether a contradiction between texts that share no content word is credible.

    The model calls idioms and unrelated statements contradictory at up to 0.8; the less the two
    have to do with each other, the surer it has to be. Set on the tuned half of the project's own
    cases, see ``docs/evaluation.md``.
    """
    return contradiction >= _SURE or (contradiction >= _LIKELY and relatedness >= _CLOSE)


def _on(policy: Policy, guard: str) -> bool:
    return policy.guard(guard) is not GuardAction.OFF

"""One row per reason code, and the order in which the questions are asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.check import Evidence
from service.domain.decide import decide
from service.domain.entailment import EntailmentScores
from service.domain.guards.attribution import Attribution
from service.domain.guards.tense import TenseFinding
from service.domain.guards.values import ValueFinding, ValueReport
from service.domain.policy import Policy
from service.domain.signals import ClaimSignals, Signals
from service.domain.verdicts import ReasonCode, Speaker, Verdict

YES = EntailmentScores(0.98, 0.01, 0.01)
NO = EntailmentScores(0.01, 0.01, 0.98)
MAYBE = EntailmentScores(0.1, 0.8, 0.1)
LEANING = EntailmentScores(0.2, 0.1, 0.7)
EVIDENCE = Evidence("I have three cats", 0, 17, "I have three cats.")


def claim(scores: EntailmentScores = YES, **changes: object) -> ClaimSignals:
    base = ClaimSignals(
        text="The user has three cats.",
        phrasings={"window": scores, "third_person": scores, "quoted": scores},
        evidence=EVIDENCE,
        relatedness=0.9,
        overlap=1.0,
        attribution=Attribution.SAME,
        misattributed=False,
        speech_veto=None,
        planned=False,
        tense=TenseFinding.FITS,
        taken_back=False,
        values=ValueReport(ValueFinding.NONE),
        unstated=(),
        opposed=False,
        coexists=False,
        restated=False,
        speaker=Speaker.USER,
        about_speaker=True,
    )
    return replace(base, **changes)


def whole(*claims: ClaimSignals, **changes: object) -> Signals:
    return replace(Signals(claims=claims or (claim(),)), **changes)


def value(finding: ValueFinding) -> ValueReport:
    return ValueReport(finding, "three", "five")


ROWS = [
    (whole(), Verdict.STORE, ReasonCode.SUPPORTED),
    (whole(claim(NO)), Verdict.REJECT, ReasonCode.CONTRADICTED),
    (whole(claim(opposed=True)), Verdict.REJECT, ReasonCode.CONTRADICTED),
    (
        whole(claim(values=value(ValueFinding.NUMBER))),
        Verdict.REJECT,
        ReasonCode.NUMBER_MISMATCH,
    ),
    (whole(claim(values=value(ValueFinding.DATE))), Verdict.REJECT, ReasonCode.DATE_MISMATCH),
    (whole(claim(values=value(ValueFinding.UNIT))), Verdict.REJECT, ReasonCode.UNIT_MISMATCH),
    (whole(claim(tense=TenseFinding.ENDED)), Verdict.REJECT, ReasonCode.TENSE_MISMATCH),
    (whole(claim(misattributed=True)), Verdict.REVIEW, ReasonCode.MISATTRIBUTED),
    (whole(claim(NO, relatedness=0.5, overlap=0.0)), Verdict.REVIEW, ReasonCode.UNRELATED),
    (whole(claim(MAYBE, relatedness=0.5, overlap=0.0)), Verdict.REVIEW, ReasonCode.UNRELATED),
    (whole(claim(MAYBE)), Verdict.REVIEW, ReasonCode.UNSUPPORTED),
    (whole(claim(NO, coexists=True)), Verdict.REVIEW, ReasonCode.UNSUPPORTED),
    (whole(claim(tense=TenseFinding.PAST_ONLY)), Verdict.REVIEW, ReasonCode.UNSUPPORTED),
    (whole(claim(taken_back=True)), Verdict.REVIEW, ReasonCode.UNSUPPORTED),
    (whole(claim(LEANING, restated=True)), Verdict.REVIEW, ReasonCode.UNSUPPORTED),
    (
        whole(claim(values=value(ValueFinding.ABSENT))),
        Verdict.REVIEW,
        ReasonCode.PARTIALLY_SUPPORTED,
    ),
    (whole(claim(unstated=("Biscuit",))), Verdict.REVIEW, ReasonCode.PARTIALLY_SUPPORTED),
    (whole(claim(), claim(MAYBE)), Verdict.REVIEW, ReasonCode.PARTIALLY_SUPPORTED),
    (
        whole(claim(speech_veto=ReasonCode.QUESTION_OR_HYPOTHETICAL)),
        Verdict.REVIEW,
        ReasonCode.QUESTION_OR_HYPOTHETICAL,
    ),
    (
        whole(claim(speech_veto=ReasonCode.QUOTED_OR_REPORTED)),
        Verdict.REVIEW,
        ReasonCode.QUOTED_OR_REPORTED,
    ),
    (whole(claim(speaker=Speaker.ASSISTANT)), Verdict.REVIEW, ReasonCode.NOT_THE_SPEAKER),
    (whole(instruction=True), Verdict.REVIEW, ReasonCode.INSTRUCTION),
    (whole(secret=True), Verdict.REVIEW, ReasonCode.SECRET),
    (whole(toxicity=0.9), Verdict.REVIEW, ReasonCode.TOXIC),
    (
        whole(language="fr", language_supported=False),
        Verdict.REVIEW,
        ReasonCode.UNSUPPORTED_LANGUAGE,
    ),
]


@pytest.mark.parametrize(("signals", "verdict", "reason"), ROWS)
def test_each_finding_has_its_verdict(
    signals: Signals, verdict: Verdict, reason: ReasonCode
) -> None:
    decision = decide(signals, Policy())

    assert (decision.verdict, decision.reason_code) == (verdict, reason)


def test_every_reason_code_has_a_row() -> None:
    assert {reason for _, _, reason in ROWS} == set(ReasonCode)


def test_a_contradicted_claim_outweighs_a_supported_one() -> None:
    decision = decide(whole(claim(), claim(NO)), Policy())

    assert (decision.verdict, decision.claim) == (Verdict.REJECT, 1)


def test_two_of_three_phrasings_must_agree() -> None:
    split = claim(phrasings={"window": YES, "third_person": MAYBE, "quoted": MAYBE})
    agreed = claim(phrasings={"window": YES, "third_person": YES, "quoted": MAYBE})

    assert decide(whole(split), Policy()).verdict is Verdict.REVIEW
    assert decide(whole(agreed), Policy()).verdict is Verdict.STORE


def test_one_phrasing_that_contradicts_stops_a_store() -> None:
    torn = claim(phrasings={"window": YES, "third_person": YES, "quoted": NO})

    assert decide(whole(torn), Policy()).verdict is Verdict.REVIEW


@pytest.mark.parametrize(
    ("guard", "signals"),
    [
        ("secret", whole(secret=True)),
        ("instruction", whole(instruction=True)),
        ("language", whole(language_supported=False)),
        ("speaker", whole(claim(speaker=Speaker.TOOL))),
        ("speech_act", whole(claim(speech_veto=ReasonCode.QUOTED_OR_REPORTED))),
        ("tense", whole(claim(tense=TenseFinding.ENDED))),
        ("values", whole(claim(values=value(ValueFinding.NUMBER)))),
        ("toxicity", whole(toxicity=0.99)),
    ],
)
def test_a_guard_that_is_off_says_nothing(guard: str, signals: Signals) -> None:
    guards = dict(Policy().guards) | {guard: "off"}

    assert decide(signals, Policy(guards=guards)).verdict is Verdict.STORE


@pytest.mark.parametrize(
    ("guard", "code", "signals"),
    [
        ("secret", "secret", whole(secret=True)),
        ("instruction", "instruction", whole(instruction=True)),
        ("toxicity", "toxic", whole(toxicity=0.9)),
    ],
)
def test_a_policy_may_let_a_guard_reject(guard: str, code: str, signals: Signals) -> None:
    policy = Policy(
        guards=dict(Policy().guards) | {guard: "reject"},
        reject_on=(*Policy().reject_on, code),
    )

    assert decide(signals, policy).verdict is Verdict.REJECT


def test_a_policy_may_turn_rejections_into_reviews() -> None:
    assert decide(whole(claim(NO)), Policy(reject_on=())).verdict is Verdict.REVIEW

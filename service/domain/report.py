"""Signals as the plain values that an answer and the log carry."""

from __future__ import annotations

from service.domain.check import SignalValue
from service.domain.signals import ClaimSignals, Signals


def signal_report(signals: Signals) -> dict[str, SignalValue]:
    """Return all signals as JSON values, with no text but the claims'."""
    return {
        "language": signals.language,
        "language_supported": signals.language_supported,
        "secret": signals.secret,
        "instruction": signals.instruction,
        "recalled": signals.recalled,
        "claims": [_claim(c) for c in signals.claims],
    }


def _claim(claim: ClaimSignals) -> SignalValue:
    return {
        "text": claim.text,
        "phrasings": {
            name: {
                "entailment": s.entailment,
                "neutral": s.neutral,
                "contradiction": s.contradiction,
            }
            for name, s in claim.phrasings.items()
        },
        "relatedness": claim.relatedness,
        "overlap": round(claim.overlap, 6),
        "attribution": claim.attribution.value,
        "misattributed": claim.misattributed,
        "speech_veto": claim.speech_veto.value if claim.speech_veto else None,
        "tense": claim.tense.value,
        "taken_back": claim.taken_back,
        "values": claim.values.finding.value,
        "unstated": list(claim.unstated),
        "opposed": claim.opposed,
        "coexists": claim.coexists,
        "restated": claim.restated,
        "speaker": claim.speaker.value,
        "about_speaker": claim.about_speaker,
    }

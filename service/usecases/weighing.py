"""One adjudication with both sides, and what the log keeps of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.audit.canonical import JsonValue
from service.domain.adjudication import (
    AdjudicationOutcome,
    AdjudicationReason,
    PairFinding,
    Relation,
)
from service.domain.canonical import canonical_json
from service.domain.check import CheckOutcome
from service.domain.cues import has_additive_cue, has_update_cue
from service.domain.memory import Triple
from service.domain.policy import Policy
from service.usecases.adjudicate import Adjudicator, Party
from service.usecases.decisions import Decision, check_result, exact, measured


@dataclass(frozen=True, slots=True)
class Weighed:
    """The outcome of an adjudication beside what went into it, in the same order."""

    outcome: AdjudicationOutcome
    incoming: Party
    existing: tuple[Party, ...]
    incoming_check: CheckOutcome
    existing_checks: tuple[CheckOutcome, ...]

    @property
    def pairs(self) -> list[tuple[Party, CheckOutcome, PairFinding]]:
        """Return each existing side with its check and its finding."""
        findings = self.outcome.findings
        return list(zip(self.existing, self.existing_checks, findings, strict=True))


def weigh(
    adjudicator: Adjudicator,
    existing: Sequence[Party],
    incoming: Party,
    policy: Policy,
    functional: Mapping[str, bool],
) -> Weighed:
    """Ask the adjudicator, and keep question and answer together."""
    outcome, check, checks = adjudicator.judge(existing, incoming, policy, dict(functional))
    return Weighed(outcome, incoming, tuple(existing), check, tuple(checks))


def with_keys(
    weighed: Weighed,
    incoming: Triple,
    existing: Sequence[Triple],
    policy: Policy,
    *,
    functional: bool,
) -> Weighed:
    """Return an adjudication that respects keys which the wording of a fact does not show.

    A client may call an attribute what it likes ("favourite_editor"). Where the adjudicator saw
    nothing in common, but subject and attribute are the same and hold one value, another value is
    an update, unless the source says that it adds ("too"), or the stored one has the higher
    authority or clearly better evidence.
    """
    source = weighed.incoming.input.source
    added = has_additive_cue(source) and not has_update_cue(source)
    if not functional or added:
        return weighed
    findings = [
        _UPDATE if _is_update(weighed, n, incoming, triple, policy) else finding
        for n, (finding, triple) in enumerate(zip(weighed.outcome.findings, existing, strict=True))
    ]
    if _UPDATE not in findings:
        return weighed
    outcome = replace(
        weighed.outcome,
        findings=tuple(findings),
        reason_code=_UPDATE.reason_code,
        reason=_UPDATE.reason,
    )
    return replace(weighed, outcome=outcome)


_UPDATE = PairFinding(
    Relation.SUPERSEDES,
    stays_active=False,
    reason_code=AdjudicationReason.UPDATE.value,
    reason="A new value of an attribute that holds one.",
)


def _is_update(
    weighed: Weighed, number: int, incoming: Triple, existing: Triple, policy: Policy
) -> bool:
    finding = weighed.outcome.findings[number]
    party, check = weighed.existing[number], weighed.existing_checks[number]
    same_key = (existing.subject, existing.attribute) == (incoming.subject, incoming.attribute)
    differs = existing.value.casefold() != incoming.value.casefold()
    apart = finding.settled or finding.reason_code != AdjudicationReason.COEXISTS.value
    unseen = finding.stays_active and not apart
    if not (unseen and same_key and differs and existing.polarity and incoming.polarity):
        return False
    margin = policy.overwrite_margin
    weaker = weighed.incoming_check.scores.faithfulness + margin < check.scores.faithfulness
    return not weaker and _rank(weighed.incoming, policy) <= _rank(party, policy)


def _rank(party: Party, policy: Policy) -> int:
    """Return the place of a party's authority in the policy's order; unnamed counts as a user."""
    order = policy.authority_order
    named = party.authority or "user"
    return order.index(named) if named in order else len(order)


def weighing_decision(
    decision_id: str,
    weighed: Weighed,
    policy: Policy,
    models: Mapping[str, str],
    memory: tuple[str, ...] = (),
) -> Decision:
    """Return an adjudication as a decision to record; both sources are among its texts."""
    asked, check = weighed.incoming.input, weighed.incoming_check
    result: dict[str, JsonValue] = {
        "reason": weighed.outcome.reason,
        "signals": exact(dict(weighed.outcome.signals)),
        "incoming": _side(weighed.incoming, check),
        "existing": [
            {
                **_side(party, found),
                "relation": finding.relation.value,
                "stays_active": finding.stays_active,
                "reason_code": finding.reason_code,
                "reason": finding.reason,
            }
            for party, found, finding in weighed.pairs
        ],
    }
    return Decision(
        id=decision_id,
        kind="adjudication",
        verdict=weighed.outcome.verdict.value,
        reason_code=weighed.outcome.reason_code,
        scores=measured(check.scores),
        policy=policy,
        models=models,
        memory=memory,
        texts={
            "fact": asked.fact,
            "source": asked.source,
            "evidence": check.evidence.text if check.evidence else "",
            "result": canonical_json(result).decode(),
        },
    )


def _side(party: Party, check: CheckOutcome) -> dict[str, JsonValue]:
    return {
        "id": party.id,
        "fact": party.input.fact,
        "source": party.input.source,
        "authority": party.authority,
        "valid_from": _moment(party.valid_from),
        "valid_to": _moment(party.valid_to),
        "verdict": check.verdict.value,
        "check": check_result(party.input, check),
    }


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()

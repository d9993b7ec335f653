"""What is already remembered, as an adjudication sees it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.audit.entry import parse_entry
from service.audit.errors import VerificationError
from service.domain.check import CheckInput, CheckOutcome, Evidence, Scores
from service.domain.memory import Memory, MemoryStatus
from service.domain.verdicts import ReasonCode, Speaker, Verdict
from service.ports.memory import MemoryFilter
from service.ports.storage import AuditRow, PageRequest, Transaction
from service.usecases.adjudicate import Party
from service.usecases.proposals import Judged, Proposal

_MILLION = 1_000_000
_PAGE = 200
_APPROVED = Verdict.REVIEW.value  # stored all the same: a person let it pass

Key = tuple[str, str]
"""Subject and attribute."""


@dataclass(frozen=True, slots=True)
class Known:
    """One active memory with its source, and the gate's decision on it where it can be read."""

    memory: Memory
    source: str
    check: CheckOutcome | None

    @property
    def party(self) -> Party:
        """Return it as one side of an adjudication."""
        memory = self.memory
        asked = CheckInput(
            source=self.source,
            fact=memory.text,
            speaker=Speaker(memory.origin.role),
            observed_at=memory.observed_at,
        )
        return Party(
            input=asked,
            id=memory.id,
            authority=memory.authority,
            valid_from=memory.valid_from,
            valid_to=memory.valid_to,
            check=self.check,
        )


def key_of(memory: Memory | Proposal) -> Key:
    """Return what a memory is about."""
    return memory.triple.subject, memory.triple.attribute


def incoming_party(judged: Judged) -> Party:
    """Return a proposal as the incoming side."""
    proposal = judged.proposal
    return Party(
        input=proposal.question,
        authority=proposal.authority,
        valid_from=proposal.valid_from,
        valid_to=proposal.valid_to,
        check=judged.check,
    )


def active_about(tx: Transaction, subject_id: str, keys: Iterable[Key]) -> list[Memory]:
    """Return every active memory about one of the keys."""
    found: list[Memory] = []
    for subject, attribute in dict.fromkeys(keys):
        which = MemoryFilter(subject_id, subject=subject, attribute=attribute)
        cursor: str | None = None
        while True:
            page = tx.memories.list(which, PageRequest(_PAGE, cursor))
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                break
    return found


def with_sources(tx: Transaction, memories: Sequence[Memory]) -> list[Known]:
    """Return the memories with what justified them."""
    return [Known(m, source_of(tx, m), stored_check(tx, m)) for m in memories]


def source_of(tx: Transaction, memory: Memory) -> str:
    """Return the whole turn a memory comes from, or at least its passage."""
    turn = tx.turns.get(memory.origin.turn_id) if memory.origin.turn_id else None
    return turn.text if turn is not None else memory.origin.text


def unchanged(tx: Transaction, subject_id: str, keys: Iterable[Key], seen: dict[str, str]) -> bool:
    """Tell whether what an adjudication saw is still all there is, in the same state."""
    about = {i for key in dict.fromkeys(keys) for i in tx.memories.active_about(subject_id, *key)}
    now = {m.id: m.state_hash for m in tx.memories.many(subject_id, list(seen))}
    return about <= seen.keys() and now == seen


def stored_check(tx: Transaction, memory: Memory) -> CheckOutcome | None:
    """Return the gate's decision on a stored memory from the log, or ``None`` if it is not there.

    What a person approved counts as supported.
    """
    decision = tx.decisions.get(memory.decision_id) if memory.decision_id else None
    row = tx.audit.get(decision.seq) if decision is not None else None
    if decision is None or row is None:
        return None
    try:
        found = parse_entry(row.entry).draft.decision or {}
        result = json.loads(row.readable()["result"].text)
        return _outcome(memory, row, dict(found), result)
    except (VerificationError, KeyError, TypeError, ValueError):
        return None


def _outcome(
    memory: Memory, row: AuditRow, decision: dict[str, object], result: dict[str, object]
) -> CheckOutcome:
    raw = decision["scores_e6"]
    scores = Scores(**{n: v / _MILLION for n, v in raw.items()}) if isinstance(raw, dict) else None
    if scores is None:
        raise ValueError("no scores")
    approved = memory.verdict == _APPROVED
    span, text = result["evidence"], row.readable()["evidence"].text
    evidence = None
    if isinstance(span, dict):
        evidence = Evidence(text, span["start"], span["end"], text)
    return CheckOutcome(
        verdict=Verdict.STORE if approved else Verdict(str(decision["verdict"])),
        reason_code=ReasonCode.SUPPORTED if approved else ReasonCode(str(decision["reason_code"])),
        reason=str(result["reason"]),
        evidence=evidence,
        scores=scores,
    )


def is_active(memory: Memory) -> bool:
    """Tell whether a memory counts now."""
    return memory.status is MemoryStatus.ACTIVE

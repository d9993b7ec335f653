"""One entry of the log: what it says, its exact bytes, and reading them back.

Every documented key is always present; an empty one is ``null``, ``[]`` or ``{}``. All values are
printable ASCII without spaces: ids, hashes and codes, never text about a person. Numbering starts
at 0, so that ``seq`` is the entry's leaf index in the RFC 6962 tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from service.audit.canonical import JsonValue, encode_entry, parse_strict
from service.audit.errors import VerificationError
from service.audit.quick import is_ordinary, quick_fields
from service.audit.schema import VERSION, check_fields

_WITHOUT_OFFSET: Final = len("2026-11-29T17:00:00.123456")


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """What a use case says happened, before the log gives it a number, a time and a place.

    ``decision`` is ``None`` or has exactly ``id``, ``verdict``, ``reason_code`` (each a string or
    ``None``) and ``scores_e6`` (integers, in millionths). ``state_before`` and ``state_after`` are
    SHA-256 in hex; ``models`` maps a role to ``sha256:<hex>``; ``commitments`` maps ``fact``,
    ``source``, ``evidence`` or ``result`` to hex.
    """

    kind: str
    actor: str
    subject: str | None = None
    decision: Mapping[str, JsonValue] | None = None
    memory: tuple[str, ...] = ()
    state_before: str | None = None
    state_after: str | None = None
    policy: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    commitments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sealed entry: the draft with its place in one log, and the bytes that are hashed."""

    draft: EntryDraft
    log: str
    seq: int
    ts: str
    prev: str
    data: bytes


def format_timestamp(moment: datetime) -> str:
    """Return the fixed-width UTC form, ``2026-11-29T17:00:00.123456Z``."""
    if moment.tzinfo is None:
        raise VerificationError("ts: a time without an offset")
    return _utc_text(moment if moment.tzinfo is UTC else moment.astimezone(UTC))


@lru_cache(maxsize=256)
def _utc_text(moment: datetime) -> str:
    """Return the text of a time in UTC, where equal times are written alike."""
    return f"{moment.isoformat(timespec='microseconds')[:_WITHOUT_OFFSET]}Z"


def parse_timestamp(text: str) -> datetime:
    """Read the fixed-width UTC form back."""
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)


def seal(draft: EntryDraft, *, log: str, seq: int, ts: str, prev: str) -> Entry:
    """Give a draft its place in the log; the result parses back to itself or is refused."""
    decision = None
    if draft.decision is not None:
        decision = dict(draft.decision)
        scores = decision.get("scores_e6")
        decision["scores_e6"] = dict(scores) if isinstance(scores, Mapping) else scores
    data = encode_entry(
        {
            "v": VERSION,
            "log": log,
            "seq": seq,
            "ts": ts,
            "kind": draft.kind,
            "actor": draft.actor,
            "subject": draft.subject,
            "decision": decision,
            "memory": list(draft.memory),
            "state": {"before": draft.state_before, "after": draft.state_after},
            "policy": draft.policy,
            "models": dict(draft.models),
            "commit": dict(draft.commitments),
            "prev": prev,
        }
    )
    if is_ordinary(data, draft.kind, ts):
        return Entry(draft, log, seq, ts, prev, data)
    return parse_entry(data)


def parse_entry(data: bytes) -> Entry:
    """Read the bytes of an entry; raises ``VerificationError`` for all but a well-formed one."""
    checked = quick_fields(data) or check_fields(parse_strict(data))
    return Entry(
        draft=EntryDraft(
            kind=checked["kind"],
            actor=checked["actor"],
            subject=checked["subject"],
            decision=checked["decision"],
            memory=tuple(checked["memory"]),
            state_before=checked["state"]["before"],
            state_after=checked["state"]["after"],
            policy=checked["policy"],
            models=checked["models"],
            commitments=checked["commit"],
        ),
        log=checked["log"],
        seq=checked["seq"],
        ts=checked["ts"],
        prev=checked["prev"],
        data=data,
    )

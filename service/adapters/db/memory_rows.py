"""Memories and their history as rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from service.adapters.db.columns import fold, from_json, moment, required_stamp, stamp, to_json
from service.adapters.db.memory_tables import memories
from service.adapters.db.owners import owner_of, owner_row
from service.adapters.db.tables import subject
from service.audit.entry import parse_timestamp
from service.domain.memory import (
    Memory,
    MemoryAction,
    MemoryEvent,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    Triple,
)

COLUMNS = (*memories.c.keys(), subject.c.user_id.name)
TYPES = {each.value: each for each in MemoryType}
STATUSES = {each.value: each for each in MemoryStatus}


def memory_row(memory: Memory) -> dict[str, object]:
    """Return every column of a memory."""
    return {
        "id": memory.id,
        **owner_row(memory.owner),
        "text": memory.text,
        "folded": fold(memory.text),
        "type": memory.type.value,
        "triple_subject": memory.triple.subject,
        "attribute": memory.triple.attribute,
        "value": memory.triple.value,
        "polarity": memory.triple.polarity,
        "importance": float(memory.importance),
        **_origin_row(memory.origin),
        "observed_at": required_stamp(memory.observed_at),
        "recorded_at": required_stamp(memory.recorded_at),
        "verdict": memory.verdict,
        "decision_id": memory.decision_id,
        "policy_fingerprint": memory.policy_fingerprint,
        "content_hash": memory.content_hash,
        "evidence": memory.evidence,
        "authority": memory.authority,
        "metadata": to_json(dict(memory.metadata)),
        **changing_row(memory),
    }


def changing_row(memory: Memory) -> dict[str, object]:
    """Return the columns that can change after a memory was stored."""
    return {
        "status": memory.status.value,
        "updated_at": required_stamp(memory.updated_at),
        "state_hash": memory.state_hash,
        "valid_from": stamp(memory.valid_from),
        "valid_to": stamp(memory.valid_to),
        "superseded_at": stamp(memory.superseded_at),
        "expires_at": stamp(memory.expires_at),
        "replaced_by": memory.replaced_by,
        "supersedes": to_json(list(memory.supersedes)),
        "supersession_reason": memory.supersession_reason,
        "contested": memory.contested,
    }


def memory_of(row: Row[Any]) -> Memory:
    """Read a memory back."""
    stored = dict(zip(COLUMNS, row, strict=True))  # faster than asking the row 35 times
    return read_back(stored, owner_of(row))


def read_back(stored: Mapping[str, Any], owner: Owner) -> Memory:
    """Return the memory that a row is read as; of a row just written it is what SQL would give."""
    return Memory(
        id=stored["id"],
        owner=owner,
        text=stored["text"],
        type=TYPES[stored["type"]],
        triple=Triple(
            stored["triple_subject"], stored["attribute"], stored["value"], bool(stored["polarity"])
        ),
        importance=stored["importance"],
        status=STATUSES[stored["status"]],
        origin=_origin_of(stored),
        observed_at=parse_timestamp(stored["observed_at"]),
        recorded_at=parse_timestamp(stored["recorded_at"]),
        updated_at=parse_timestamp(stored["updated_at"]),
        verdict=stored["verdict"],
        decision_id=stored["decision_id"],
        policy_fingerprint=stored["policy_fingerprint"],
        content_hash=stored["content_hash"],
        state_hash=stored["state_hash"],
        valid_from=moment(stored["valid_from"]),
        valid_to=moment(stored["valid_to"]),
        superseded_at=moment(stored["superseded_at"]),
        expires_at=moment(stored["expires_at"]),
        replaced_by=stored["replaced_by"],
        supersedes=tuple(from_json(stored["supersedes"])),
        supersession_reason=stored["supersession_reason"],
        evidence=stored["evidence"],
        authority=stored["authority"],
        contested=bool(stored["contested"]),
        metadata=from_json(stored["metadata"]),
    )


def event_row(event: MemoryEvent) -> dict[str, object]:
    """Return every column of a step."""
    return {
        "memory_id": event.memory_id,
        "subject_id": event.subject_id,
        "action": event.action.value,
        "status": event.status.value,
        "at": required_stamp(event.at),
        "actor": event.actor,
        "reason": event.reason,
        "other_id": event.other_id,
        "seq": event.seq,
    }


def event_of(row: Row[Any]) -> MemoryEvent:
    """Read a step back."""
    return MemoryEvent(
        memory_id=row.memory_id,
        subject_id=row.subject_id,
        action=MemoryAction(row.action),
        status=MemoryStatus(row.status),
        at=parse_timestamp(row.at),
        actor=row.actor,
        reason=row.reason,
        other_id=row.other_id,
        seq=row.seq,
    )


def _origin_row(origin: Origin) -> dict[str, object]:
    return {
        "turn_id": origin.turn_id,
        "origin_role": origin.role,
        "origin_text": origin.text,
        "origin_start": origin.start,
        "origin_end": origin.end,
        "origin_hash": origin.content_hash,
    }


def _origin_of(stored: Mapping[str, Any]) -> Origin:
    return Origin(
        turn_id=stored["turn_id"],
        role=stored["origin_role"],
        text=stored["origin_text"],
        start=stored["origin_start"],
        end=stored["origin_end"],
        content_hash=stored["origin_hash"],
    )

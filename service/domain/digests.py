"""Digests of what is remembered: SHA-256 over RFC 8785 canonical JSON.

The log holds the state digests. They cover the opaque id of the turn, which is random and never in
the log, so that once a memory is erased nobody can guess its text and compare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from service.domain.canonical import canonical_json
from service.domain.errors import InvalidInput
from service.domain.memory import Conflict, Lesson, Memory, Owner, Review

Json = dict[str, Any]


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def json_digest(value: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a value; raises ``InvalidInput`` for no JSON."""
    try:
        return hashlib.sha256(canonical_json(value)).hexdigest()
    except ValueError as error:
        raise InvalidInput("metadata", "holds something that JSON cannot carry exactly") from error


def content_digest(memory: Memory) -> str:
    """Return the digest of what never changes about a memory."""
    return json_digest(_content(memory, memory.owner))


def state_digest(memory: Memory) -> str:
    """Return the digest of everything about a memory, what can change included."""
    return json_digest(_content(memory, memory.owner) | _changing(memory))


def sealed(memory: Memory, subject_id: str | None = None) -> Memory:
    """Return the memory, as this user's if one is named, with both digests up to date."""
    owner = memory.owner
    if subject_id not in (None, owner.subject_id):
        owner = Owner(str(subject_id), owner.user_id, owner.agent_id, owner.session_id)
    content = _content(memory, owner)
    digest = json_digest(content)
    state = json_digest(content | _changing(memory) | {"content_hash": digest})
    return replace(memory, owner=owner, content_hash=digest, state_hash=state)


def conflict_digest(conflict: Conflict) -> str:
    """Return the digest of everything about a disagreement."""
    return json_digest(_plain(conflict))


def review_digest(review: Review) -> str:
    """Return the digest of everything about an item of the review queue."""
    return json_digest(_plain(review))


def lesson_digest(lesson: Lesson) -> str:
    """Return the digest of a lesson."""
    return json_digest(_plain(lesson))


def _content(memory: Memory, owner: Owner) -> Json:
    origin, triple = memory.origin, memory.triple
    return {
        "id": memory.id,
        "owner": [owner.subject_id, owner.user_id, owner.agent_id, owner.session_id],
        "text": memory.text,
        "type": memory.type.value,
        "triple": [triple.subject, triple.attribute, triple.value, triple.polarity],
        "importance": memory.importance,
        "origin": [
            origin.turn_id,
            origin.role,
            origin.text,
            origin.start,
            origin.end,
            origin.content_hash,
        ],
        "observed_at": _moment(memory.observed_at),
        "recorded_at": _moment(memory.recorded_at),
        "verdict": memory.verdict,
        "decision_id": memory.decision_id,
        "policy": memory.policy_fingerprint,
        "evidence": memory.evidence,
        "authority": memory.authority,
        "metadata": dict(memory.metadata),
    }


def _changing(memory: Memory) -> Json:
    return {
        "content_hash": memory.content_hash,
        "status": memory.status.value,
        "updated_at": _moment(memory.updated_at),
        "valid_from": _moment(memory.valid_from),
        "valid_to": _moment(memory.valid_to),
        "superseded_at": _moment(memory.superseded_at),
        "expires_at": _moment(memory.expires_at),
        "replaced_by": memory.replaced_by,
        "supersedes": list(memory.supersedes),
        "supersession_reason": memory.supersession_reason,
        "contested": memory.contested,
    }


def _plain(value: Conflict | Review | Lesson) -> Json:
    found = {name: getattr(value, name) for name in value.__dataclass_fields__}
    return {name: _json(item) for name, item in found.items()}


def _json(value: object) -> object:
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _moment(value: datetime | None) -> str | None:
    if value is None:
        return None
    utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return utc.isoformat(timespec="microseconds")

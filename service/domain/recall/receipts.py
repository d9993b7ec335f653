"""Receipts: what was asked, under which rules, at which point of the log, and what came back.

A receipt is JSON; its signature covers the RFC 8785 bytes of everything else in it, so that no
field can be edited. It holds no text of a memory, only ids and content hashes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final

from service.domain.canonical import canonical_json
from service.domain.errors import InvalidInput
from service.domain.recall.eligible import Filters
from service.domain.recall.outcome import Hit, Outcome
from service.domain.recall.scoring import Weights, definition_hash

SCHEMA: Final = "groundkeeper.recall/1"
SIGNATURE: Final = "signature"
TOLERANCE: Final = 1e-4
"""How far a re-run score may be off: other hardware sums in another order."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recall is asked, apart from who asks."""

    user_id: str
    query: str
    top_k: int
    weights: Weights
    filters: Filters


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Under what a recall ran: rules, models and the point of the log."""

    id: str
    at: datetime
    tenant: str
    policy: str
    models: Mapping[str, str]
    origin: str
    size: int
    leaf: str


def receipt_body(asked: Asked, under: Circumstances, outcome: Outcome) -> Json:
    """Return a receipt without its signature."""
    filters = asked.filters
    return {
        "schema": SCHEMA,
        "id": under.id,
        "at": _moment(under.at),
        "tenant": under.tenant,
        "query": asked.query,
        "scope": {
            "user_id": asked.user_id,
            "agent_id": filters.agent_id,
            "session_id": filters.session_id,
        },
        "options": {
            "top_k": asked.top_k,
            "threshold": asked.weights.threshold,
            "alpha": asked.weights.alpha,
            "beta": asked.weights.beta,
            "types": sorted(filters.types),
            "include_superseded": filters.include_superseded,
            "as_of": _moment(filters.as_of),
            "valid_at": _moment(filters.valid_at),
            "since": _moment(filters.since),
            "until": _moment(filters.until),
        },
        "policy": under.policy,
        "models": dict(under.models),
        "definition": definition_hash(),
        "log": {"origin": under.origin, "size": under.size, "leaf": under.leaf},
        **answer_part(outcome),
    }


def answer_part(outcome: Outcome) -> Json:
    """Return what a re-run has to reproduce."""
    return {
        "reason": outcome.reason.value,
        "best_score": outcome.best_score,
        "hits": [_hit(hit) for hit in outcome.hits],
    }


def signed_bytes(receipt: Mapping[str, Any]) -> bytes:
    """Return what a signature covers; raises ``InvalidInput`` for what is no JSON."""
    body = {name: value for name, value in receipt.items() if name != SIGNATURE}
    try:
        return canonical_json(body)
    except ValueError as error:
        raise InvalidInput("receipt", "holds something that JSON cannot carry exactly") from error


def with_signature(receipt: Json, key_id: str, signature: bytes) -> Json:
    """Return a receipt with its signature; ``key_id`` must be in the signed part already."""
    if receipt.get("key_id") != key_id:
        raise InvalidInput("receipt.key_id", "is not the key that signed")
    return receipt | {SIGNATURE: base64.b64encode(signature).decode()}


def signature_of(receipt: Mapping[str, Any]) -> bytes | None:
    """Return the signature in a receipt, or None where there is none that could be one."""
    text = receipt.get(SIGNATURE)
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None


def asked_of(receipt: Mapping[str, Any]) -> Asked:
    """Return what a receipt says was asked; raises ``InvalidInput`` for one that is malformed."""
    try:
        scope, options = receipt["scope"], receipt["options"]
        filters = Filters(
            agent_id=scope.get("agent_id"),
            session_id=scope.get("session_id"),
            types=frozenset(options["types"]),
            include_superseded=bool(options["include_superseded"]),
            as_of=_parsed(options.get("as_of")),
            valid_at=_parsed(options.get("valid_at")),
            since=_parsed(options.get("since")),
            until=_parsed(options.get("until")),
        )
        weights = Weights(
            float(options["alpha"]), float(options["beta"]), float(options["threshold"])
        )
        query, user_id = str(receipt["query"]), str(scope["user_id"])
        return Asked(user_id, query, int(options["top_k"]), weights, filters)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput("receipt", "is not a receipt of this service") from error


def moment_of(receipt: Mapping[str, Any]) -> datetime:
    """Return when a receipt was made; raises ``InvalidInput``."""
    try:
        found = _parsed(receipt["at"])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("receipt.at", "is no time") from error
    if found is None or found.tzinfo is None:
        raise InvalidInput("receipt.at", "is no time")
    return found


def _hit(hit: Hit) -> Json:
    status = None if hit.memory is None else hit.memory.status.value
    return {
        "memory_id": hit.scored.candidate.id,
        "content_hash": hit.content_hash,
        "status": status,
        "score": hit.scored.score,
        "components": asdict(hit.scored.components),
    }


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")


def _parsed(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)

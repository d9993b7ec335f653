"""What a backup does with every column: encrypts it, keeps it, or leaves the whole table out.

A test fails when a column of text or bytes is in none of these lists, and so does a backup. Numbers
and dates of recording stay readable, and so does everything that the log says, which holds nothing
personal by its design.

Digests of texts are encrypted with the texts, and so are the ids of turns: the log has digests
which cover them, and whoever knew them could guess a text and compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Personal:
    """A table with columns that only their user's key may open.

    Attributes:
        columns: what is encrypted, together; the first of them carries the ciphertext.
        row: the columns that name a row and never change.
        owner: the expression for the opaque id of the user whose row it is.
        tenant: the expression for the tenant.
        joined: what has to be joined to ask for these.
        kept_if: the condition under which a row is kept as it is.
        keep_unowned: whether rows of no user are kept as they are, or left out.
    """

    columns: tuple[str, ...]
    row: tuple[str, ...] = ("position",)
    owner: str = "t.subject_id"
    tenant: str = "t.tenant"
    joined: str = ""
    kept_if: str = "0"
    keep_unowned: bool = False


PERSONAL: Final[dict[str, Personal]] = {
    "subject": Personal(("user_id",), row=("id",), owner="t.id"),
    "turn": Personal(
        ("id", "agent_id", "session_id", "text", "language", "content_hash", "observed_at")
    ),
    "memory": Personal(
        (
            *("text", "folded", "agent_id", "session_id"),
            *("triple_subject", "attribute", "value"),
            *("turn_id", "origin_text", "origin_hash", "observed_at"),
            *("valid_from", "valid_to", "expires_at"),
            *("content_hash", "state_hash"),
            *("supersession_reason", "evidence", "authority", "metadata"),
        )
    ),
    "memory_event": Personal(("reason",)),
    "conflict": Personal(("reason", "resolution")),
    "review": Personal(("text", "reason", "candidate", "note")),
    "lesson": Personal(("text", "evidence", "applies_to"), keep_unowned=True),
    "receipt": Personal(("body", "memory_ids")),
    "embedding": Personal(("vector",)),
    # Encrypted where it is stored, unless it comes from before there were keys.
    "body": Personal(
        ("text", "salt"),
        row=("seq", "name"),
        owner="e.subject",
        tenant="e.tenant",
        joined="LEFT JOIN entry e ON e.seq = t.seq",
        kept_if="t.nonce IS NOT NULL",
    ),
}

READABLE: Final[dict[str, tuple[str, ...]]] = {
    "alembic_version": ("version_num",),
    "head": ("origin", "leaf", "ts"),
    "entry": ("tenant", "ts", "kind", "subject", "verdict", "decision_id", "leaf", "entry"),
    "node": ("hash",),
    "body": ("name", "nonce"),
    "policy": (
        *("tenant", "fingerprint", "name", "version", "body"),
        *("legacy_fingerprint", "created_at"),
    ),
    "default_policy": ("tenant", "fingerprint"),
    "attribute": ("tenant", "name"),
    "subject": ("tenant", "id"),
    "decision": (
        *("tenant", "id", "kind", "subject_id", "verdict", "reason_code"),
        *("policy_fingerprint", "recorded_at"),
    ),
    "turn": ("tenant", "subject_id", "role", "recorded_at"),
    "memory": (
        *("tenant", "id", "subject_id", "type", "status", "origin_role"),
        *("recorded_at", "updated_at", "superseded_at"),
        *("verdict", "decision_id", "policy_fingerprint", "replaced_by", "supersedes"),
    ),
    "memory_event": (
        *("tenant", "memory_id", "subject_id", "action", "status", "at", "actor", "other_id"),
    ),
    "conflict": (
        *("tenant", "id", "subject_id", "first", "second", "status"),
        *("marked_at", "marked_by", "kept", "resolved_at", "resolved_by"),
    ),
    "review": (
        *("tenant", "id", "subject_id", "status", "reason_code", "decision_id"),
        *("opened_at", "closed_at", "closed_by", "memory_id"),
    ),
    "lesson": ("tenant", "id", "subject_id", "recorded_at", "actor"),
    "receipt": ("tenant", "id", "subject_id", "recorded_at"),
    "outbox": ("tenant", "memory_id"),
    "embedding": ("tenant", "memory_id", "subject_id", "model_digest", "created_at"),
    "keystore": ("name",),
    # Written so that they can stay when everything else of a user is gone.
    "erasure": (
        *("tenant", "id", "plan_sha256", "subject_id", "mode", "reason_code", "reason"),
        *("actor", "memory_ids", "counts", "tombstones", "status", "findings"),
        *("erased_at", "finished_at"),
    ),
    "erased": ("tenant", "kind", "digest", "subject_id", "erased_at"),
}

LEFT_OUT: Final = frozenset({"idempotency", "idempotency_subject", "erasure_plan"})
"""Tables that are empty in a backup: answers kept for a while, some about several users at once,
and plans that wait for a confirmation."""


def unclassified(table: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of a table's columns of text or bytes that nobody has decided about."""
    if table in LEFT_OUT:
        return ()
    personal = PERSONAL[table].columns if table in PERSONAL else ()
    known = {*personal, *READABLE.get(table, ())}
    return tuple(name for name in columns if name not in known)

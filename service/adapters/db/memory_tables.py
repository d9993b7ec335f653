"""The tables of memories and what surrounds them, as the repositories query them.

``position`` counts rows in the order they were added: lists sort by it and cursors name it.
Lineage (``replaced_by``, ``supersedes``, ``kept``) has no foreign keys: it may name what is erased.
"""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from service.adapters.db.tables import metadata


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


def _maybe(*names: str) -> list[Column[str]]:
    return [Column(name, Text) for name in names]


def _position() -> Column[int]:
    return Column("position", Integer, primary_key=True)


def _within_tenant(column: str, table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["tenant", column], [f"{table}.tenant", f"{table}.id"])


turns = Table(
    "turn",
    metadata,
    _position(),
    *_texts("tenant", "id", "subject_id"),
    *_maybe("agent_id", "session_id"),
    *_texts("role", "text", "language", "content_hash", "observed_at", "recorded_at"),
    UniqueConstraint("tenant", "id"),
    _within_tenant("subject_id", "subject"),
)

memories = Table(
    "memory",
    metadata,
    _position(),
    *_texts("tenant", "id", "subject_id"),
    *_maybe("agent_id", "session_id"),
    *_texts("text", "folded", "type", "triple_subject", "attribute", "value"),
    Column("polarity", Integer, nullable=False),
    Column("importance", REAL, nullable=False),
    *_texts("status"),
    *_maybe("turn_id"),
    *_texts("origin_role", "origin_text"),
    Column("origin_start", Integer, nullable=False),
    Column("origin_end", Integer, nullable=False),
    *_texts("origin_hash", "observed_at", "recorded_at", "updated_at", "verdict"),
    *_maybe("decision_id"),
    *_texts("policy_fingerprint", "content_hash", "state_hash"),
    *_maybe("valid_from", "valid_to", "superseded_at", "expires_at", "replaced_by"),
    *_texts("supersedes"),
    *_maybe("supersession_reason", "evidence", "authority"),
    Column("contested", Integer, nullable=False),
    *_texts("metadata"),
    UniqueConstraint("tenant", "id"),
    _within_tenant("subject_id", "subject"),
    _within_tenant("turn_id", "turn"),
)

events = Table(
    "memory_event",
    metadata,
    _position(),
    *_texts("tenant", "memory_id", "subject_id", "action", "status", "at", "actor"),
    *_maybe("reason", "other_id"),
    Column("seq", Integer),
    _within_tenant("memory_id", "memory"),
)

conflicts = Table(
    "conflict",
    metadata,
    _position(),
    *_texts("tenant", "id", "subject_id", "first", "second", "reason"),
    Column("confidence", REAL, nullable=False),
    *_texts("status", "marked_at", "marked_by"),
    *_maybe("kept", "resolution", "resolved_at", "resolved_by"),
    UniqueConstraint("tenant", "id"),
    _within_tenant("subject_id", "subject"),
    _within_tenant("first", "memory"),
    _within_tenant("second", "memory"),
)

reviews = Table(
    "review",
    metadata,
    _position(),
    *_texts("tenant", "id", "subject_id", "status", "text", "reason_code", "reason", "candidate"),
    *_maybe("decision_id"),
    *_texts("opened_at"),
    *_maybe("closed_at", "closed_by", "note", "memory_id"),
    UniqueConstraint("tenant", "id"),
    _within_tenant("subject_id", "subject"),
)

attributes = Table(
    "attribute",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("functional", Integer, nullable=False),
)

lessons = Table(
    "lesson",
    metadata,
    _position(),
    *_texts("tenant", "id"),
    *_maybe("subject_id"),
    *_texts("text", "evidence", "applies_to", "recorded_at", "actor"),
    UniqueConstraint("tenant", "id"),
    _within_tenant("subject_id", "subject"),
)

outbox = Table(
    "outbox",
    metadata,
    _position(),
    *_texts("tenant", "memory_id"),
)

embeddings = Table(
    "embedding",
    metadata,
    _position(),
    *_texts("tenant", "memory_id", "subject_id", "model_digest"),
    Column("vector", LargeBinary, nullable=False),
    *_texts("created_at"),
    UniqueConstraint("tenant", "memory_id"),
    ForeignKeyConstraint(
        ["tenant", "memory_id"], ["memory.tenant", "memory.id"], ondelete="CASCADE"
    ),
)

"""The tables of erasure: plans, what was erased, what may not come back, whose answers are."""

from __future__ import annotations

from sqlalchemy import Column, Integer, Table, Text, UniqueConstraint

from service.adapters.db.tables import metadata


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


def _key(*names: str) -> list[Column[str]]:
    return [Column(name, Text, primary_key=True) for name in names]


keystore = Table(
    "keystore",
    metadata,
    Column("id", Integer, primary_key=True),
    *_texts("name"),
)

plans = Table(
    "erasure_plan",
    metadata,
    *_key("tenant", "plan_sha256"),
    *_texts("subject_id", "mode", "asked", "reason_code", "reason", "created_at", "expires_at"),
)

erasures = Table(
    "erasure",
    metadata,
    Column("position", Integer, primary_key=True),
    *_texts("tenant", "id", "plan_sha256", "subject_id", "mode", "reason_code", "reason"),
    *_texts("actor", "memory_ids", "counts", "tombstones", "status", "findings", "erased_at"),
    Column("finished_at", Text),
    UniqueConstraint("tenant", "id"),
    UniqueConstraint("tenant", "plan_sha256"),
)

erased = Table(
    "erased",
    metadata,
    *_key("tenant", "kind", "digest"),
    Column("subject_id", Text),
    *_texts("erased_at"),
)

answer_owners = Table(
    "idempotency_subject",
    metadata,
    *_key("tenant", "subject_id", "key"),
)

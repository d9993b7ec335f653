"""The tables as the repositories query them; a test compares them with what migrations build."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

head = Table(
    "head",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("leaf", Text, nullable=False),
    Column("ts", Text, nullable=False),
)

entry = Table(
    "entry",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("tenant", Text, nullable=False),
    Column("ts", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Text),
    Column("verdict", Text),
    Column("decision_id", Text),
    Column("leaf", Text, nullable=False),
    Column("entry", LargeBinary, nullable=False),
)

body = Table(
    "body",
    metadata,
    Column("seq", Integer, ForeignKey("entry.seq"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("text", LargeBinary, nullable=False),
    Column("nonce", LargeBinary),
)

node = Table(
    "node",
    metadata,
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
)

policy = Table(
    "policy",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("fingerprint", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("legacy_fingerprint", Text),
    Column("created_at", Text, nullable=False),
    UniqueConstraint("tenant", "name", "version"),
    UniqueConstraint("tenant", "position"),
)

default_policy = Table(
    "default_policy",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    ForeignKeyConstraint(["tenant", "fingerprint"], ["policy.tenant", "policy.fingerprint"]),
)

subject = Table(
    "subject",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
)

decision = Table(
    "decision",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject_id", Text),
    Column("seq", Integer, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("reason_code", Text, nullable=False),
    Column("policy_fingerprint", Text, nullable=False),
    Column("recorded_at", Text, nullable=False),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request_hash", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("created_at", Text, nullable=False),
)

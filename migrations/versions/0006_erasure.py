"""Erasure: encrypted bodies, plans, what was erased, what may not come back, whose answers are."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BATCH = 500
IDS = re.compile(rb"\b(?:mem|turn|chk|rev|rcp|con|les)_[0-9a-z]{26}\b")
OWNED = ("memory", "turn", "decision", "review", "receipt", "conflict", "lesson")


def text(name: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable, primary_key=primary_key)


def texts(*names: str) -> list[sa.Column]:
    return [text(name) for name in names]


def create_plans() -> None:
    op.create_table(
        "erasure_plan",
        text("tenant", primary_key=True),
        text("plan_sha256", primary_key=True),
        *texts("subject_id", "mode", "asked", "reason_code", "reason"),
        *texts("created_at", "expires_at"),
        sqlite_strict=True,
    )
    op.create_table(
        "erasure",
        sa.Column("position", sa.Integer, primary_key=True),
        *texts("tenant", "id", "plan_sha256", "subject_id", "mode", "reason_code", "reason"),
        *texts("actor", "memory_ids", "counts", "tombstones", "status", "findings", "erased_at"),
        text("finished_at", nullable=True),
        sa.UniqueConstraint("tenant", "id"),
        sa.UniqueConstraint("tenant", "plan_sha256"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("erasure_by_status", "erasure", ["status"])


def create_guard() -> None:
    op.create_table(
        "erased",
        text("tenant", primary_key=True),
        text("kind", primary_key=True),
        text("digest", primary_key=True),
        text("subject_id", nullable=True),
        text("erased_at"),
        sqlite_strict=True,
    )
    op.create_index("erased_by_subject", "erased", ["tenant", "subject_id"])


def create_owners() -> sa.Table:
    table = op.create_table(
        "idempotency_subject",
        text("tenant", primary_key=True),
        text("subject_id", primary_key=True),
        text("key", primary_key=True),
        sqlite_strict=True,
    )
    op.create_index("idempotency_subject_by_key", "idempotency_subject", ["tenant", "key"])
    return table


def find_owners(table: sa.Table) -> None:
    """Note whose the answers are that were kept before, by the ids in them."""
    answers = sa.table("idempotency", *map(sa.column, ("tenant", "key", "body")))
    connection = op.get_bind()
    rows = connection.execute(sa.select(answers)).partitions(BATCH)
    for batch in rows:
        found = {
            (row.tenant, subject, row.key)
            for row in batch
            for subject in subjects(connection, row.tenant, row.body)
        }
        values = [dict(zip(("tenant", "subject_id", "key"), one, strict=True)) for one in found]
        op.bulk_insert(table, values)


def subjects(connection: sa.Connection, tenant: str, body: bytes) -> set[str]:
    ids = {match.decode() for match in IDS.findall(body)}
    found: set[str] = set()
    for name in OWNED if ids else ():
        owned = sa.table(name, *map(sa.column, ("tenant", "id", "subject_id")))
        query = sa.select(owned.c.subject_id).where(owned.c.tenant == tenant, owned.c.id.in_(ids))
        found.update(connection.execute(query).scalars())
    return found - {None}


def upgrade() -> None:
    op.add_column("body", sa.Column("nonce", sa.LargeBinary, nullable=True))
    op.create_table(
        "keystore",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True),
        text("name"),
        sqlite_strict=True,
    )
    create_plans()
    create_guard()
    find_owners(create_owners())

"""The audit log, policies, decisions, subjects and idempotency keys."""

import sqlalchemy as sa
from alembic import op

from migrations.triggers import LOG_TRIGGERS

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable, primary_key=primary_key)


def create_log() -> None:
    op.create_table(
        "head",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True),
        text("origin"),
        sa.Column("size", sa.Integer, nullable=False),
        text("leaf"),
        text("ts"),
        sqlite_strict=True,
    )
    op.create_table(
        "entry",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        text("tenant"),
        text("ts"),
        text("kind"),
        text("subject", nullable=True),
        text("verdict", nullable=True),
        text("decision_id", nullable=True),
        text("leaf"),
        sa.Column("entry", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )
    for column in ("seq", "subject", "kind", "verdict"):
        op.create_index(f"entry_by_{column}", "entry", ["tenant", column])
    op.create_table(
        "body",
        sa.Column("seq", sa.Integer, sa.ForeignKey("entry.seq"), primary_key=True),
        text("name", primary_key=True),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )
    if op.get_context().dialect.name == "sqlite":
        for statement in LOG_TRIGGERS.values():
            op.execute(statement)


def create_policies() -> None:
    op.create_table(
        "policy",
        text("tenant", primary_key=True),
        text("fingerprint", primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        text("name"),
        text("version"),
        text("body"),
        text("legacy_fingerprint", nullable=True),
        text("created_at"),
        sa.UniqueConstraint("tenant", "name", "version"),
        sa.UniqueConstraint("tenant", "position"),
        sqlite_strict=True,
    )
    op.create_table(
        "default_policy",
        text("tenant", primary_key=True),
        text("fingerprint"),
        sa.ForeignKeyConstraint(["tenant", "fingerprint"], ["policy.tenant", "policy.fingerprint"]),
        sqlite_strict=True,
    )


def upgrade() -> None:
    create_log()
    create_policies()
    op.create_table(
        "subject",
        text("tenant", primary_key=True),
        text("user_id", primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sqlite_strict=True,
    )
    op.create_table(
        "decision",
        text("tenant", primary_key=True),
        text("id", primary_key=True),
        text("kind"),
        text("subject_id", nullable=True),
        sa.Column("seq", sa.Integer, nullable=False),
        text("verdict"),
        text("reason_code"),
        text("policy_fingerprint"),
        text("recorded_at"),
        sqlite_strict=True,
    )
    op.create_table(
        "idempotency",
        text("tenant", primary_key=True),
        text("key", primary_key=True),
        text("request_hash"),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        text("created_at"),
        sqlite_strict=True,
    )

"""Receipts of recalls."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "receipt",
        sa.Column("position", sa.Integer, primary_key=True),
        text("tenant"),
        text("id"),
        text("subject_id", nullable=True),
        text("body"),
        text("memory_ids"),
        text("recorded_at"),
        sa.UniqueConstraint("tenant", "id"),
        sa.ForeignKeyConstraint(["tenant", "subject_id"], ["subject.tenant", "subject.id"]),
        sqlite_strict=True,
    )
    op.create_index("receipt_by_subject", "receipt", ["tenant", "subject_id", "position"])

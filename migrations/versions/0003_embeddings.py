"""The vectors of memories, each with the digest of the model that made it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def text(name: str) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=False)


def upgrade() -> None:
    op.create_table(
        "embedding",
        sa.Column("position", sa.Integer, primary_key=True),
        text("tenant"),
        text("memory_id"),
        text("subject_id"),
        text("model_digest"),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        text("created_at"),
        sa.UniqueConstraint("tenant", "memory_id"),
        sa.ForeignKeyConstraint(
            ["tenant", "memory_id"], ["memory.tenant", "memory.id"], ondelete="CASCADE"
        ),
        sa.CheckConstraint("length(vector) > 0 AND length(vector) % 4 = 0"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index(
        "embedding_by_subject",
        "embedding",
        ["tenant", "subject_id", "model_digest", "position"],
    )
    op.create_index("embedding_by_model", "embedding", ["model_digest"])

"""Memories with their history, turns, conflicts, reviews, attributes, lessons and the outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column:
    return sa.Column(name, sa.Text, nullable=nullable, primary_key=primary_key)


def maybe(*names: str) -> list[sa.Column]:
    return [text(name, nullable=True) for name in names]


def number(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer, nullable=False)


def flag(name: str) -> sa.Column:
    return sa.Column(name, sa.Integer, sa.CheckConstraint(f"{name} IN (0, 1)"), nullable=False)


def position() -> sa.Column:
    """The order in which rows were added: what lists sort by and cursors name."""
    return sa.Column("position", sa.Integer, primary_key=True)


def within_tenant(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["tenant", column], [f"{table}.tenant", f"{table}.id"])


def index(table: str, name: str, *columns: str) -> None:
    op.create_index(f"{table}_by_{name}", table, ["tenant", *columns])


def create_turns() -> None:
    op.create_table(
        "turn",
        position(),
        text("tenant"),
        text("id"),
        text("subject_id"),
        *maybe("agent_id", "session_id"),
        text("role"),
        text("text"),
        text("language"),
        text("content_hash"),
        text("observed_at"),
        text("recorded_at"),
        sa.UniqueConstraint("tenant", "id"),
        within_tenant("subject_id", "subject"),
        sqlite_strict=True,
    )
    index("turn", "subject", "subject_id", "position")


def create_memories() -> None:
    op.create_table(
        "memory",
        position(),
        text("tenant"),
        text("id"),
        text("subject_id"),
        *maybe("agent_id", "session_id"),
        text("text"),
        text("folded"),
        text("type"),
        text("triple_subject"),
        text("attribute"),
        text("value"),
        flag("polarity"),
        sa.Column("importance", sa.REAL, nullable=False),
        text("status"),
        text("turn_id", nullable=True),
        text("origin_role"),
        text("origin_text"),
        number("origin_start"),
        number("origin_end"),
        text("origin_hash"),
        text("observed_at"),
        text("recorded_at"),
        text("updated_at"),
        text("verdict"),
        text("decision_id", nullable=True),
        text("policy_fingerprint"),
        text("content_hash"),
        text("state_hash"),
        *maybe("valid_from", "valid_to", "superseded_at", "expires_at", "replaced_by"),
        text("supersedes"),
        *maybe("supersession_reason", "evidence", "authority"),
        flag("contested"),
        text("metadata"),
        sa.UniqueConstraint("tenant", "id"),
        within_tenant("subject_id", "subject"),
        within_tenant("turn_id", "turn"),
        sqlite_strict=True,
    )
    index("memory", "status", "subject_id", "status", "position")
    index("memory", "triple", "subject_id", "triple_subject", "attribute", "status")
    index("memory", "position", "subject_id", "position")
    index("memory", "turn", "turn_id")
    op.create_table(
        "memory_event",
        position(),
        text("tenant"),
        text("memory_id"),
        text("subject_id"),
        text("action"),
        text("status"),
        text("at"),
        text("actor"),
        *maybe("reason", "other_id"),
        sa.Column("seq", sa.Integer),
        within_tenant("memory_id", "memory"),
        sqlite_strict=True,
    )
    index("memory_event", "memory", "memory_id", "position")


def create_queues() -> None:
    op.create_table(
        "conflict",
        position(),
        text("tenant"),
        text("id"),
        text("subject_id"),
        text("first"),
        text("second"),
        text("reason"),
        sa.Column("confidence", sa.REAL, nullable=False),
        text("status"),
        text("marked_at"),
        text("marked_by"),
        *maybe("kept", "resolution", "resolved_at", "resolved_by"),
        sa.UniqueConstraint("tenant", "id"),
        within_tenant("subject_id", "subject"),
        within_tenant("first", "memory"),
        within_tenant("second", "memory"),
        sqlite_strict=True,
    )
    index("conflict", "status", "subject_id", "status", "position")
    index("conflict", "position", "subject_id", "position")
    index("conflict", "first", "first")
    index("conflict", "second", "second")
    op.create_table(
        "review",
        position(),
        text("tenant"),
        text("id"),
        text("subject_id"),
        text("status"),
        text("text"),
        text("reason_code"),
        text("reason"),
        text("candidate"),
        text("decision_id", nullable=True),
        text("opened_at"),
        *maybe("closed_at", "closed_by", "note", "memory_id"),
        sa.UniqueConstraint("tenant", "id"),
        within_tenant("subject_id", "subject"),
        sqlite_strict=True,
    )
    index("review", "status", "status", "position")
    index("review", "position", "position")
    index("review", "subject_status", "subject_id", "status", "position")
    index("review", "subject", "subject_id", "position")
    op.create_table(
        "outbox",
        position(),
        text("tenant"),
        text("memory_id"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    index("outbox", "position", "position")


def create_knowledge() -> None:
    op.create_table(
        "attribute",
        text("tenant", primary_key=True),
        text("name", primary_key=True),
        flag("functional"),
        sqlite_strict=True,
    )
    op.create_table(
        "lesson",
        position(),
        text("tenant"),
        text("id"),
        text("subject_id", nullable=True),
        text("text"),
        text("evidence"),
        text("applies_to"),
        text("recorded_at"),
        text("actor"),
        sa.UniqueConstraint("tenant", "id"),
        within_tenant("subject_id", "subject"),
        sqlite_strict=True,
    )
    index("lesson", "position", "position")
    index("lesson", "subject", "subject_id", "position")


def upgrade() -> None:
    op.create_index("subject_by_id", "subject", ["tenant", "id"], unique=True)
    create_turns()
    create_memories()
    create_queues()
    create_knowledge()

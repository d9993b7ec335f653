"""Whose a row is: the opaque id is in the row, the user's own id in one place only."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, Select, Table, and_

from service.adapters.db.tables import subject
from service.domain.memory import Owner


def with_owner(query: Select[Any], table: Table) -> Select[Any]:
    """Add the user's id to a query for rows of ``table``."""
    same = and_(subject.c.tenant == table.c.tenant, subject.c.id == table.c.subject_id)
    return query.add_columns(subject.c.user_id).join_from(table, subject, same)


def owner_row(owner: Owner) -> dict[str, object]:
    """Return the columns that say whose a row is."""
    return {
        "subject_id": owner.subject_id,
        "agent_id": owner.agent_id,
        "session_id": owner.session_id,
    }


def owner_of(row: Row[Any]) -> Owner:
    """Read whose a row is."""
    return Owner(row.subject_id, row.user_id, row.agent_id, row.session_id)

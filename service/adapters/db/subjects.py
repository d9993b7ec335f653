"""Opaque ids of users in SQL."""

from __future__ import annotations

from service.adapters.db.repository import Repository
from service.adapters.db.tables import subject


class SqlSubjects(Repository):
    """Implements ``SubjectStore``."""

    def id_for(self, user_id: str) -> str:
        """Return the user's id, making one on first use."""
        known = self.find(user_id)
        if known is not None:
            return known
        made = self._session.identifiers.new("sub")
        self._insert(subject, user_id=user_id, id=made)
        return made

    def find(self, user_id: str) -> str | None:
        """Return the user's id, or ``None``."""
        query = self._rows_of(subject).where(subject.c.user_id == user_id)
        row = self._execute(query).one_or_none()
        return None if row is None else str(row.id)

"""Opaque ids of users in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sqlalchemy import bindparam, select

from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.adapters.db.tables import subject
from service.ports.subject_keys import SubjectRef

FIND = Prepared(
    select(subject.c.id).where(
        subject.c.tenant == bindparam("tenant"), subject.c.user_id == bindparam("user_id")
    )
)


class SqlSubjects(Repository):
    """Implements ``SubjectStore``."""

    def id_for(self, user_id: str) -> str:
        """Return the user's id, making one on first use."""
        known = self.find(user_id)
        if known is not None:
            return known
        made = self._session.whose(self._new_id()).subject_id
        self._insert(subject, user_id=user_id, id=made)
        return made

    def find(self, user_id: str) -> str | None:
        """Return the user's id, or ``None``."""
        row = self._one(FIND, user_id=user_id)
        return None if row is None else self._session.whose(str(row.id)).subject_id

    def _new_id(self) -> str:
        keys, make = self._session.keys, partial(self._session.identifiers.new, "sub")
        # The key is on disk before the commit: never an id without its key.
        return make() if keys is None else keys.take(self._session.scope.tenant, make).subject_id

    def everybody(self) -> Sequence[SubjectRef]:
        """Return every user of every tenant, for the service itself."""
        rows = self._execute(select(subject.c.tenant, subject.c.id).order_by(subject.c.id))
        return [SubjectRef(row.tenant, row.id) for row in rows]

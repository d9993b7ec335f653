"""The outbox of the vector index in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete

from service.adapters.db.memory_tables import outbox
from service.adapters.db.repository import Repository
from service.ports.memory import OutboxItem


class SqlOutbox(Repository):
    """Implements ``OutboxStore``; positions only grow, also after everything was forgotten.

    A second change of a memory is a second item: were it folded into the first, ``done`` for the
    first would lose it.
    """

    def put(self, memory_id: str) -> None:
        """Note that a memory changed."""
        self._insert(outbox, memory_id=memory_id)

    def pending(self, limit: int) -> Sequence[OutboxItem]:
        """Return the oldest changes first."""
        query = self._rows_of(outbox).order_by(outbox.c.position).limit(limit)
        return [OutboxItem(row.position, row.memory_id) for row in self._execute(query)]

    def done(self, up_to: int) -> None:
        """Forget the changes up to and with a position."""
        self._execute(delete(outbox).where(self._mine(outbox), outbox.c.position <= up_to))

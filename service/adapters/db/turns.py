"""Turns in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, bindparam, select

from service.adapters.db.columns import required_stamp
from service.adapters.db.memory_tables import turns
from service.adapters.db.owners import owner_of, owner_row, with_owner
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.audit.entry import parse_timestamp
from service.domain.memory import Turn

FEW = 8  # so many single look-ups are faster than one statement that has to be put together
GET = Prepared(
    with_owner(select(turns), turns).where(
        turns.c.tenant == bindparam("tenant"), turns.c.id == bindparam("turn_id")
    )
)


class SqlTurns(Repository):
    """Implements ``TurnStore``."""

    def add(self, turn: Turn) -> None:
        """Store a turn; raises ``Conflict`` when the id exists."""
        self._add(
            "turn",
            turns,
            id=turn.id,
            **owner_row(turn.owner),
            role=turn.role,
            text=turn.text,
            language=turn.language,
            content_hash=turn.content_hash,
            observed_at=required_stamp(turn.observed_at),
            recorded_at=required_stamp(turn.recorded_at),
        )

    def get(self, turn_id: str) -> Turn | None:
        """Return one turn of this tenant."""
        row = self._one(GET, turn_id=turn_id)
        return None if row is None else _turn_of(row)

    def many(self, turn_ids: Sequence[str]) -> Mapping[str, Turn]:
        """Return those of the turns that exist, by id."""
        ids = list(dict.fromkeys(turn_ids))
        if len(ids) <= FEW:
            return {turn.id: turn for i in ids if (turn := self.get(i)) is not None}
        rows = self._execute(self._turns().where(turns.c.id.in_(ids))) if ids else ()
        return {row.id: _turn_of(row) for row in rows}

    def of_subject(self, subject_id: str) -> Sequence[Turn]:
        """Return every turn of a user, oldest first."""
        query = self._turns().where(turns.c.subject_id == subject_id).order_by(turns.c.position)
        return [_turn_of(row) for row in self._execute(query)]

    def _turns(self) -> Select[Any]:
        return with_owner(self._rows_of(turns), turns)


def _turn_of(row: Row[Any]) -> Turn:
    return Turn(
        id=row.id,
        owner=owner_of(row),
        role=row.role,
        text=row.text,
        language=row.language,
        content_hash=row.content_hash,
        observed_at=parse_timestamp(row.observed_at),
        recorded_at=parse_timestamp(row.recorded_at),
    )

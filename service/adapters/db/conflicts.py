"""Conflicts between memories in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, or_

from service.adapters.db.columns import moment, required_stamp, stamp
from service.adapters.db.memory_tables import conflicts
from service.adapters.db.repository import Repository
from service.audit.entry import parse_timestamp
from service.domain.errors import NotFound
from service.domain.memory import Conflict, ConflictStatus
from service.ports.paging import Page, PageRequest

OPEN = conflicts.c.status == ConflictStatus.OPEN.value


class SqlConflicts(Repository):
    """Implements ``ConflictStore``."""

    def add(self, conflict: Conflict) -> None:
        """Store a conflict; raises the error ``Conflict`` when it exists or its memories do not."""
        self._add(
            "conflict",
            conflicts,
            id=conflict.id,
            subject_id=conflict.subject_id,
            first=conflict.first,
            second=conflict.second,
            reason=conflict.reason,
            confidence=conflict.confidence,
            marked_at=required_stamp(conflict.marked_at),
            marked_by=conflict.marked_by,
            **_resolution_row(conflict),
        )

    def update(self, conflict: Conflict) -> None:
        """Write the resolution; raises ``NotFound`` for what is not there."""
        mine = conflicts.c.subject_id == conflict.subject_id
        this = conflicts.c.id == conflict.id
        if not self._change(conflicts, mine, this, **_resolution_row(conflict)):
            raise NotFound("conflict")

    def get(self, subject_id: str, conflict_id: str) -> Conflict | None:
        """Return one conflict of one user."""
        row = self._execute(self._of(subject_id).where(conflicts.c.id == conflict_id)).one_or_none()
        return None if row is None else conflict_of(row)

    def list(self, subject_id: str, page: PageRequest, *, open_only: bool = True) -> Page[Conflict]:
        """List conflicts, newest first."""
        query = self._of(subject_id)
        return self._page(query.where(OPEN) if open_only else query, conflicts, page, conflict_of)

    def open_with(self, subject_id: str, memory_id: str) -> Sequence[Conflict]:
        """Return the open conflicts that a memory is part of, oldest first."""
        part = or_(conflicts.c.first == memory_id, conflicts.c.second == memory_id)
        query = self._of(subject_id).where(OPEN, part).order_by(conflicts.c.position)
        return [conflict_of(row) for row in self._execute(query)]

    def _of(self, subject_id: str) -> Select[Any]:
        return self._rows_of(conflicts).where(conflicts.c.subject_id == subject_id)


def _resolution_row(conflict: Conflict) -> dict[str, object]:
    return {
        "status": conflict.status.value,
        "kept": conflict.kept,
        "resolution": conflict.resolution,
        "resolved_at": stamp(conflict.resolved_at),
        "resolved_by": conflict.resolved_by,
    }


def conflict_of(row: Row[Any]) -> Conflict:
    """Read a conflict back."""
    return Conflict(
        id=row.id,
        subject_id=row.subject_id,
        first=row.first,
        second=row.second,
        reason=row.reason,
        confidence=row.confidence,
        status=ConflictStatus(row.status),
        marked_at=parse_timestamp(row.marked_at),
        marked_by=row.marked_by,
        kept=row.kept,
        resolution=row.resolution,
        resolved_at=moment(row.resolved_at),
        resolved_by=row.resolved_by,
    )

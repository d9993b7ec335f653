"""Decisions in SQL."""

from __future__ import annotations

from service.adapters.db.repository import Repository
from service.adapters.db.tables import decision
from service.audit.entry import format_timestamp, parse_timestamp
from service.ports.storage import DecisionRecord


class SqlDecisions(Repository):
    """Implements ``DecisionStore``."""

    def add(self, record: DecisionRecord) -> None:
        """Store a decision; raises ``Conflict`` when the id exists."""
        values = {name: getattr(record, name) for name in DecisionRecord.__dataclass_fields__}
        values["recorded_at"] = format_timestamp(record.recorded_at)
        self._add("decision", decision, **values)

    def get(self, decision_id: str) -> DecisionRecord | None:
        """Return the decision with this id."""
        query = self._rows_of(decision).where(decision.c.id == decision_id)
        row = self._execute(query).mappings().one_or_none()
        if row is None:
            return None
        values = {name: row[name] for name in DecisionRecord.__dataclass_fields__}
        return DecisionRecord(**values | {"recorded_at": parse_timestamp(row["recorded_at"])})

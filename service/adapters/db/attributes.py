"""Declared attributes in SQL."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from service.adapters.db.memory_tables import attributes
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository

ALL = Prepared(
    select(attributes).where(attributes.c.tenant == bindparam("tenant")).order_by(attributes.c.name)
)


class SqlAttributes(Repository):
    """Implements ``AttributeStore``."""

    def set(self, attribute: str, *, functional: bool) -> None:
        """Declare an attribute; the last declaration holds."""
        if not self._change(attributes, attributes.c.name == attribute, functional=functional):
            self._insert(attributes, name=attribute, functional=functional)

    def all(self) -> dict[str, bool]:
        """Return the tenant's declarations, by name."""
        rows = self._several(ALL)
        return {row.name: bool(row.functional) for row in rows}

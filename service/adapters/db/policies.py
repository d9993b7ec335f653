"""Policies in SQL."""

from __future__ import annotations

from sqlalchemy import Row, bindparam, delete, func, select

from service.adapters.db import cursors
from service.adapters.db.prepared import Prepared
from service.adapters.db.repository import Repository
from service.adapters.db.tables import default_policy, policy
from service.audit.entry import format_timestamp, parse_timestamp
from service.domain.errors import Conflict, NotFound
from service.ports.storage import Page, PageRequest, PolicyRecord

DEFAULT = Prepared(
    select(default_policy.c.fingerprint).where(default_policy.c.tenant == bindparam("tenant"))
)


class SqlPolicies(Repository):
    """Implements ``PolicyStore``; ``position`` counts versions in the order they were added."""

    def add(self, record: PolicyRecord) -> None:
        """Store a version; the same fingerprint again changes nothing."""
        if self.get(record.fingerprint) is not None:
            return
        if self.by_name(record.name, record.version) is not None:
            raise Conflict(
                f"Policy {record.name} {record.version} exists with other content; "
                "a version never changes, so give this one a new version."
            )
        self._insert(
            policy,
            fingerprint=record.fingerprint,
            position=self._count() + 1,
            name=record.name,
            version=record.version,
            body=record.body,
            legacy_fingerprint=record.legacy_fingerprint,
            created_at=format_timestamp(record.created_at),
        )

    def get(self, fingerprint: str) -> PolicyRecord | None:
        """Return the policy with this fingerprint."""
        query = self._rows_of(policy).where(policy.c.fingerprint == fingerprint)
        row = self._execute(query).one_or_none()
        return None if row is None else _record(row)

    def by_name(self, name: str, version: str | None = None) -> PolicyRecord | None:
        """Return this version, or the one that was added last."""
        query = self._rows_of(policy).where(policy.c.name == name)
        if version is not None:
            query = query.where(policy.c.version == version)
        row = self._execute(query.order_by(policy.c.position.desc()).limit(1)).one_or_none()
        return None if row is None else _record(row)

    def list(self, page: PageRequest) -> Page[PolicyRecord]:
        """List all versions, those added last first."""
        query = self._rows_of(policy)
        before = cursors.position(page)
        if before is not None:
            query = query.where(policy.c.position < before)
        query = query.order_by(policy.c.position.desc()).limit(page.limit + 1)
        rows = self._execute(query).all()
        cut = cursors.cut(rows, page, self._count(), lambda row: int(row.position))
        return Page(tuple(map(_record, cut.items)), cut.next_cursor, cut.total)

    def default(self) -> str | None:
        """Return the default policy's fingerprint."""
        row = self._one(DEFAULT)
        return None if row is None else str(row.fingerprint)

    def set_default(self, fingerprint: str) -> None:
        """Make a stored policy the default."""
        if self.get(fingerprint) is None:
            raise NotFound("policy")
        self._execute(delete(default_policy).where(self._mine(default_policy)))
        self._insert(default_policy, fingerprint=fingerprint)

    def _count(self) -> int:
        query = select(func.count()).select_from(self._rows_of(policy).subquery())
        return int(self._execute(query).scalar_one())


def _record(row: Row[tuple[object, ...]]) -> PolicyRecord:
    return PolicyRecord(
        fingerprint=row.fingerprint,
        name=row.name,
        version=row.version,
        body=row.body,
        legacy_fingerprint=row.legacy_fingerprint,
        created_at=parse_timestamp(row.created_at),
    )

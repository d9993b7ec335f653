"""Idempotency keys in SQL."""

from __future__ import annotations

from service.adapters.db.erasure_tables import answer_owners
from service.adapters.db.repository import Repository
from service.adapters.db.tables import idempotency
from service.audit.entry import format_timestamp, parse_timestamp
from service.domain.errors import IdempotencyMismatch
from service.ports.storage import StoredAnswer


class SqlIdempotency(Repository):
    """Implements ``IdempotencyStore``."""

    def get(self, key: str) -> StoredAnswer | None:
        """Return the answer given to this key."""
        row = self._execute(
            self._rows_of(idempotency).where(idempotency.c.key == key)
        ).one_or_none()
        if row is None:
            return None
        return StoredAnswer(row.request_hash, row.status, row.body, parse_timestamp(row.created_at))

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Keep the first answer to a request."""
        known = self.get(key)
        if known is None:
            self._insert(
                idempotency,
                key=key,
                request_hash=answer.request_hash,
                status=answer.status,
                body=answer.body,
                created_at=format_timestamp(answer.created_at),
            )
            for subject_id in sorted(self._session.touched):
                self._insert(answer_owners, subject_id=subject_id, key=key)
        elif known.request_hash != answer.request_hash:
            raise IdempotencyMismatch("This Idempotency-Key was used with another request.")

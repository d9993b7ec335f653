"""The review queue in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from service.adapters.db.columns import from_json, moment, required_stamp, stamp, to_json
from service.adapters.db.memory_tables import reviews
from service.adapters.db.repository import Repository
from service.audit.entry import parse_timestamp
from service.domain.errors import InvalidInput
from service.domain.memory import Review, ReviewStatus
from service.ports.paging import Page, PageRequest

OPEN = reviews.c.status == ReviewStatus.OPEN.value


class SqlReviews(Repository):
    """Implements ``ReviewStore``."""

    def add(self, review: Review) -> None:
        """Open an item; raises ``Conflict`` when the id exists."""
        self._add(
            "review",
            reviews,
            id=review.id,
            subject_id=review.subject_id,
            text=review.text,
            reason_code=review.reason_code,
            reason=review.reason,
            candidate=to_json(dict(review.candidate)),
            decision_id=review.decision_id,
            opened_at=required_stamp(review.opened_at),
            **_end_row(review),
        )

    def close(self, review: Review) -> bool:
        """Write an item's end if it is still open; return whether it was (exactly once)."""
        if review.status is ReviewStatus.OPEN:
            raise InvalidInput("status", "must be approved or rejected to close a review")
        mine = reviews.c.subject_id == review.subject_id
        return self._change(reviews, OPEN, mine, reviews.c.id == review.id, **_end_row(review))

    def get(self, review_id: str) -> Review | None:
        """Return one item of this tenant."""
        query = self._rows_of(reviews).where(reviews.c.id == review_id)
        row = self._execute(query).one_or_none()
        return None if row is None else review_of(row)

    def list(
        self,
        page: PageRequest,
        *,
        subject_id: str | None = None,
        status: ReviewStatus | None = None,
    ) -> Page[Review]:
        """List items, newest first."""
        query = self._rows_of(reviews)
        if subject_id is not None:
            query = query.where(reviews.c.subject_id == subject_id)
        if status is not None:
            query = query.where(reviews.c.status == status.value)
        return self._page(query, reviews, page, review_of)


def _end_row(review: Review) -> dict[str, object]:
    return {
        "status": review.status.value,
        "closed_at": stamp(review.closed_at),
        "closed_by": review.closed_by,
        "note": review.note,
        "memory_id": review.memory_id,
    }


def review_of(row: Row[Any]) -> Review:
    """Read an item of the review queue back."""
    return Review(
        id=row.id,
        subject_id=row.subject_id,
        status=ReviewStatus(row.status),
        text=row.text,
        reason_code=row.reason_code,
        reason=row.reason,
        candidate=from_json(row.candidate),
        decision_id=row.decision_id,
        opened_at=parse_timestamp(row.opened_at),
        closed_at=moment(row.closed_at),
        closed_by=row.closed_by,
        note=row.note,
        memory_id=row.memory_id,
    )

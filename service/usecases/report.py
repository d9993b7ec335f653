"""A report on the log for somebody who has to judge it, from one snapshot of the database."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final, Protocol, TypeVar

from service.audit.entry import Entry, format_timestamp, parse_entry
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow
from service.audit.verify import Report
from service.domain.errors import InvalidInput
from service.domain.memory import Review, ReviewStatus
from service.ports.clock import Clock
from service.ports.storage import AuditFilter, PageRequest, Scope, Transaction
from service.usecases.report_model import (
    CheckpointStatus,
    Counts,
    LogReport,
    OpenReview,
    Reviews,
)
from service.usecases.report_policies import KIND, PolicyHistory, names
from service.usecases.report_tally import Tally, shortened
from service.usecases.report_words import meaning

T = TypeVar("T")
_PAGE: Final = 500
_REVIEWS: Final = 200
_EXAMPLES: Final = 20
_DAY: Final = 86_400


class Snapshots(Protocol):
    """Whatever can be read: a ``Database``, or one that only an operator's command opens."""

    def read(self, scope: Scope, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` on a consistent snapshot."""
        ...


class BuildReport:
    """The use case behind ``GET /audit/report``.

    ``verify`` verifies the whole log; ``checkpoint`` says where signing stands, or nothing where
    nothing is signed at all.
    """

    def __init__(
        self,
        *,
        database: Snapshots,
        clock: Clock,
        verify: Callable[[], Report],
        checkpoint: Callable[[], CheckpointStatus | None] = lambda: None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._verify = verify
        self._checkpoint = checkpoint

    def run(
        self,
        scope: Scope,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        examples: int = _EXAMPLES,
    ) -> LogReport:
        """Return the report on a tenant's entries in a period; slow on a long log.

        At most ``examples`` blocked facts and open reviews are shown with their texts. Raises
        ``InvalidInput`` for a period that ends before it starts.
        """
        if since is not None and until is not None and until <= since:
            raise InvalidInput("until", "must be after since")
        verification, checkpoint = self._verify(), self._checkpoint()
        period = AuditFilter(since=since, until=until)

        def work(tx: Transaction) -> LogReport:
            return self._build(tx, period, examples, verification, checkpoint)

        return self._database.read(scope, work)

    def _build(
        self,
        tx: Transaction,
        period: AuditFilter,
        examples: int,
        verification: Report,
        checkpoint: CheckpointStatus | None,
    ) -> LogReport:
        now = self._clock.now()
        changes = (entry for _, entry in _entries(tx, AuditFilter(action=KIND)))
        history, tally = PolicyHistory(e for e in changes if e is not None), Tally(examples)
        damaged = 0
        for row, entry in _entries(tx, period):
            if entry is None:
                damaged += 1
                continue
            tally.feed(row, entry)
            if entry.draft.kind.endswith(".decided"):
                history.count(entry.seq)
        start, end = (
            None if t is None else format_timestamp(t) for t in (period.since, period.until)
        )
        return LogReport(
            tenant=tx.scope.tenant,
            origin=tx.audit.head().origin,
            made_at=now,
            since=period.since,
            until=period.until,
            first=tally.first,
            last=tally.last,
            entries=tally.entries + damaged,
            damaged=damaged,
            actions=dict(sorted(tally.actions.items())),
            checks=tally.by_kind.get("check.decided", Counts()),
            adjudications=tally.by_kind.get("adjudication.decided", Counts()),
            timeline=tally.timeline(),
            reasons=tally.reasons(),
            blocked=tally.blocked(),
            reviews=_reviews(tx, now, tally.actions, examples),
            policies=tuple(history.periods(tx, start, end)),
            policies_used=tally.uses(names(tx, tally.fingerprints)),
            erasures=tally.erasures(),
            evaluations=tally.evaluations(),
            checkpoint=checkpoint,
            verification=verification,
        )


def _entries(tx: Transaction, which: AuditFilter) -> Iterator[tuple[AuditRow, Entry | None]]:
    """Go through the tenant's entries in order; a damaged one comes without its meaning."""
    last = -1
    while rows := tx.audit.after(which, last, _PAGE):
        for row in rows:
            try:
                yield row, parse_entry(row.entry)
            except VerificationError:
                yield row, None
        last = rows[-1].seq


def _reviews(tx: Transaction, now: datetime, actions: Counter[str], limit: int) -> Reviews:
    by_reason: Counter[str] = Counter()
    oldest: deque[Review] = deque(maxlen=limit)  # they come newest first
    for review in _open_reviews(tx):
        by_reason[review.reason_code] += 1
        oldest.append(review)
    shown = tuple(_open_review(review, now) for review in reversed(oldest))
    return Reviews(
        open=by_reason.total(),
        oldest_days=shown[0].days if shown else None,
        by_reason=dict(by_reason.most_common()),
        shown=shown,
        opened=actions["review.opened"],
        approved=actions["review.approved"],
        rejected=actions["review.rejected"],
    )


def _open_reviews(tx: Transaction) -> Iterator[Review]:
    cursor: str | None = None
    while True:
        page = tx.reviews.list(PageRequest(_REVIEWS, cursor), status=ReviewStatus.OPEN)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _open_review(review: Review, now: datetime) -> OpenReview:
    age = (now - review.opened_at).total_seconds()
    return OpenReview(
        id=review.id,
        opened_at=review.opened_at,
        days=round(max(0.0, age) / _DAY, 2),
        reason_code=review.reason_code,
        meaning=meaning(review.reason_code),
        text=shortened(review.text),
    )

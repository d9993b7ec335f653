"""Plans, receipts and keyed digests of erasures in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, select

from service.adapters.db.columns import from_json, moment, required_stamp, stamp, to_json
from service.adapters.db.erased import SqlErased
from service.adapters.db.eraser import SqlEraser
from service.adapters.db.erasure_tables import erasures, plans
from service.adapters.db.held import SqlHeld
from service.adapters.db.repository import Repository, Session
from service.audit.entry import parse_timestamp
from service.domain.erasure import (
    Asked,
    ErasureMode,
    ErasureReason,
    ErasureRecord,
    ErasureStatus,
    Finding,
    StoredPlan,
)


class SqlErasures(Repository):
    """Implements ``ErasureStore``."""

    def put_plan(self, plan: StoredPlan) -> None:
        """Store a plan, in place of the same one."""
        this = delete(plans).where(self._mine(plans), plans.c.plan_sha256 == plan.plan_sha256)
        self._execute(this)
        self._insert(
            plans,
            plan_sha256=plan.plan_sha256,
            subject_id=plan.subject_id,
            mode=plan.asked.mode.value,
            asked=to_json(list(plan.asked.ids)),
            reason_code=plan.reason_code.value,
            reason=plan.reason,
            created_at=required_stamp(plan.created_at),
            expires_at=required_stamp(plan.expires_at),
        )

    def plan(self, plan_sha256: str) -> StoredPlan | None:
        """Return a plan that waits."""
        query = self._rows_of(plans).where(plans.c.plan_sha256 == plan_sha256)
        row = self._execute(query).one_or_none()
        if row is None:
            return None
        return StoredPlan(
            plan_sha256=row.plan_sha256,
            subject_id=row.subject_id,
            asked=Asked(ErasureMode(row.mode), tuple(from_json(row.asked))),
            reason_code=ErasureReason(row.reason_code),
            reason=row.reason,
            created_at=parse_timestamp(row.created_at),
            expires_at=parse_timestamp(row.expires_at),
        )

    def drop_plans(self, *, subject_id: str | None = None, before: datetime | None = None) -> None:
        """Delete the plans of a user, or those that expired before a time."""
        gone = delete(plans).where(self._mine(plans))
        if subject_id is not None:
            gone = gone.where(plans.c.subject_id == subject_id)
        if before is not None:
            gone = gone.where(plans.c.expires_at < required_stamp(before))
        self._execute(gone)

    def add(self, record: ErasureRecord) -> None:
        """Store a receipt; raises ``Conflict`` when its plan was confirmed before."""
        self._add(
            "erasure",
            erasures,
            id=record.id,
            plan_sha256=record.plan_sha256,
            subject_id=record.subject_id,
            mode=record.mode.value,
            reason_code=record.reason_code.value,
            reason=record.reason,
            actor=record.actor,
            memory_ids=to_json(list(record.memory_ids)),
            counts=to_json(dict(record.counts)),
            tombstones=to_json({"seqs": list(record.tombstones)}),
            erased_at=required_stamp(record.erased_at),
            **_progress(record),
        )

    def finish(self, record: ErasureRecord) -> None:
        """Write the status, the findings and the time of completion."""
        self._change(erasures, erasures.c.id == record.id, **_progress(record))

    def get(self, erasure_id: str) -> ErasureRecord | None:
        """Return a receipt of this tenant."""
        row = self._execute(self._rows_of(erasures).where(erasures.c.id == erasure_id))
        return _record_of(row.one_or_none())

    def by_plan(self, plan_sha256: str) -> ErasureRecord | None:
        """Return the receipt of a confirmed plan."""
        row = self._execute(self._rows_of(erasures).where(erasures.c.plan_sha256 == plan_sha256))
        return _record_of(row.one_or_none())

    def unfinished(self) -> Sequence[tuple[str, str]]:
        """Return (tenant, id) of every tenant's erasures that are not complete, oldest first."""
        query = select(erasures.c.tenant, erasures.c.id)
        query = query.where(erasures.c.status == ErasureStatus.INCOMPLETE.value)
        rows = self._execute(query.order_by(erasures.c.position))
        return [(row.tenant, row.id) for row in rows]


class SqlErasureStores:
    """Implements ``ErasureStores``."""

    def __init__(self, session: Session) -> None:
        self.held = SqlHeld(session)
        self.eraser = SqlEraser(session)
        self.records = SqlErasures(session)
        self.erased = SqlErased(session)


def _progress(record: ErasureRecord) -> dict[str, object]:
    return {
        "status": record.status.value,
        "findings": to_json({"found": [asdict(f) for f in record.findings]}),
        "finished_at": stamp(record.finished_at),
    }


def _record_of(row: Row[Any] | None) -> ErasureRecord | None:
    if row is None:
        return None
    return ErasureRecord(
        id=row.id,
        plan_sha256=row.plan_sha256,
        subject_id=row.subject_id,
        mode=ErasureMode(row.mode),
        reason_code=ErasureReason(row.reason_code),
        reason=row.reason,
        actor=row.actor,
        memory_ids=tuple(from_json(row.memory_ids)),
        counts=from_json(row.counts),
        tombstones=tuple(from_json(row.tombstones)["seqs"]),
        status=ErasureStatus(row.status),
        findings=tuple(Finding(**f) for f in from_json(row.findings)["found"]),
        erased_at=parse_timestamp(row.erased_at),
        finished_at=moment(row.finished_at),
    )

"""Exports and reports for an operator's commands, on a database that may be in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from service.adapters.checkpoints.wiring import CheckpointParts
from service.adapters.exporting.folder import signed_sizes
from service.adapters.exporting.source import Signed, export_csv, export_folder, published
from service.adapters.inspection import reading
from service.adapters.reporting.renderings import RENDERINGS
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import SystemClock
from service.audit.verify import Anchors
from service.domain.errors import ReadOnly, Unavailable
from service.ports.checkpoints import SignedCheckpoint
from service.ports.storage import SYSTEM, Scope, Transaction
from service.ports.subject_keys import SubjectKeys
from service.usecases.checkpoint_checks import read_last
from service.usecases.export_log import Wanted
from service.usecases.report import BuildReport
from service.usecases.report_model import CheckpointStatus
from service.usecases.verification import verify_log

T = TypeVar("T")
_REPORTER = "report"


@dataclass(frozen=True, slots=True)
class Place:
    """Where everything of one installation is."""

    location: str | Path
    key_dir: Path
    checkpoint_file: Path
    parts: CheckpointParts

    def read(
        self, scope: Scope, work: Callable[[Transaction], T], *, texts: bool | None = None
    ) -> T:
        """Run ``work`` on a snapshot of the database.

        Encrypted texts are there if their keys can be opened; with ``texts`` they have to be, or
        ``Unavailable`` is raised, and where it is false they are left alone.
        """
        open_keys = None if texts is False else partial(self._keys, required=bool(texts))
        with reading(self.location, scope, open_keys=open_keys) as tx:
            return work(tx)

    def _keys(self, name: str, *, required: bool) -> SubjectKeys | None:
        try:
            return open_subject_keys(self.key_dir, name)
        except Unavailable:
            if required:
                raise
            return None

    def signed(self) -> Signed:
        """Return the published checkpoints and the public keys."""
        latest = self.parts.store.read()
        current = self.parts.keys.published()
        return Signed(
            published(self.checkpoint_file, None if latest is None else latest.note),
            (*([] if current is None else [current]), *reversed(self.parts.keys.retired())),
        )


def export_to(place: Place, out: Path, wanted: Wanted) -> tuple[int, int]:
    """Write an export folder; return how many entries it has, and how many are signed.

    Raises as ``source.export_folder``, and ``Unavailable`` for a database that cannot be read.
    """
    signed = place.signed()  # before the snapshot: no checkpoint may be newer than the log

    def work(tx: Transaction) -> int:
        return export_folder(tx, out, wanted, signed)

    count = place.read(wanted.scope, work, texts=wanted.bodies)
    return count, max(signed_sizes(signed.notes), default=0)


def csv_to(place: Place, out: Path, wanted: Wanted) -> int:
    """Write a CSV file; return how many entries it has. Raises as ``export_to``."""
    return place.read(wanted.scope, lambda tx: export_csv(tx, out, wanted), texts=True)


def report_on(
    place: Place, tenant: str, period: tuple[datetime | None, datetime | None], form: str
) -> tuple[bytes, bool]:
    """Return a tenant's report in a form, and whether the log verifies."""
    last, anchors = _anchors(place.parts)
    report = BuildReport(
        database=place,
        clock=SystemClock(),
        verify=lambda: place.read(SYSTEM, lambda tx: verify_log(tx, None, anchors)),
        checkpoint=lambda: _status(place, last),
    ).run(Scope(tenant, _REPORTER), *period)
    return RENDERINGS[form].render(report), report.verification.ok


def _anchors(parts: CheckpointParts) -> tuple[SignedCheckpoint | None, Anchors]:
    try:
        last = read_last(parts.store, parts.keys)
    except ReadOnly as error:
        return None, Anchors(unopened=error.detail)
    return last, Anchors(stored=(last.checkpoint,))


def _status(place: Place, last: SignedCheckpoint | None) -> CheckpointStatus | None:
    if last is None:
        return None
    size = place.read(SYSTEM, lambda tx: tx.audit.head().size)
    return CheckpointStatus(
        size=last.checkpoint.size,
        root=last.checkpoint.root.hex(),
        at=last.stored_at,
        age_seconds=(SystemClock().now() - last.stored_at).total_seconds(),
        uncovered=max(0, size - last.checkpoint.size),
        problem=None,
    )

"""A thread that applies the retention policy once a day, where the operator wants that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from service.adapters.exporting.wiring import Place
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import GroundkeeperError
from service.ports.storage import SYSTEM, Database, Scope, Transaction
from service.ports.subject_keys import SubjectRef
from service.usecases.erasure.finish import Finisher
from service.usecases.retention import Due, Retain, Retained, look

_DAY_SECONDS: Final = 86_400.0
_log = structlog.get_logger("groundkeeper.retention")


class RetentionRuntime:
    """Runs ``retain`` after the models were loaded, and every day from then on."""

    def __init__(self, retain: Retain, days: int, ready: Callable[[], None]) -> None:
        self._retain = retain
        self._days = days
        self._ready = ready
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retention", daemon=True)

    def start(self) -> None:
        """Begin and return at once; without a number of days nothing is ever erased."""
        if self._days:
            self._thread.start()

    def close(self) -> None:
        """Stop the thread; what is being erased is finished first."""
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        self._ready()
        while not self._closing.is_set():
            try:
                done = self._retain.run(self._days)
            except GroundkeeperError as error:
                _log.warning("retention failed, to be tried again", reason=str(error))
            else:
                _log.info("retention applied", **asdict(done))
            self._closing.wait(_DAY_SECONDS)


def retaining(
    database: Database, finisher: Finisher, days: int, ready: Callable[[], None]
) -> RetentionRuntime:
    """Return the thread; ``days`` of 0 keep everything."""
    return RetentionRuntime(retain_in(database, finisher), days, ready)


def retain_in(database: Database, finisher: Finisher) -> Retain:
    """Return the use case on an open database."""
    return Retain(
        database=database, clock=SystemClock(), identifiers=RandomIdentifiers(), finisher=finisher
    )


def due_now(place: Place, days: int) -> Retained:
    """Return how much would be erased, from a database that may be in use."""
    before = SystemClock().now() - timedelta(days=days)
    users = place.read(SYSTEM, lambda tx: tx.subjects.everybody())
    found = Retained()
    for tenant in sorted({who.tenant for who in users}):
        theirs = [who for who in users if who.tenant == tenant]
        looked = partial(_look, users=theirs, before=before)
        for due in place.read(Scope(tenant, SYSTEM.key), looked):
            found = found.plus(due)
    return found


def _look(tx: Transaction, users: Sequence[SubjectRef], before: datetime) -> list[Due]:
    return [look(tx, who, before) for who in users]

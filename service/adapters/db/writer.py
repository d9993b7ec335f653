"""The one thread that writes: many requests, one commit.

Each request runs in its own savepoint, so one that fails takes nothing with it; then all that
waited are committed together with one flush to disk, and only after it do the callers get their
answers. If the flush fails, none of them was kept and all are told so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from queue import Empty, Full, Queue
from typing import Any, Generic, TypeVar

from sqlalchemy import Connection, Engine

from service.adapters.db.errors import DEPENDENCY, domain_errors
from service.adapters.db.prepared import execute
from service.adapters.db.transaction import SqlTransaction
from service.domain.errors import Overloaded, ReadOnly, Unavailable
from service.ports.storage import Scope

MAX_GROUP = 128
LOG = "audit log"

T = TypeVar("T")
Begin = Callable[[Connection, Scope], SqlTransaction]


class _Job(Generic[T]):
    """A closure that waits for its turn, and then for the commit."""

    def __init__(self, scope: Scope, work: Callable[[SqlTransaction], T]) -> None:
        self.scope = scope
        self.answer: Future[T] = Future()
        self._work = work
        self._deliver: Callable[[], None]

    def run(self, transaction: SqlTransaction) -> bool:
        """Run the closure and keep its outcome; returns whether its changes are to be kept."""
        try:
            result = self._work(transaction)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
            failure = error
            self._deliver = lambda: self.answer.set_exception(failure)
            return False
        self._deliver = lambda: self.answer.set_result(result)
        return True

    def deliver(self) -> None:
        """Hand the outcome to the caller."""
        self._deliver()


class Writer:
    """Owns the writing thread and the queue in front of it."""

    def __init__(self, engine: Engine, begin: Begin, *, queue_size: int) -> None:
        self._engine = engine
        self._begin = begin
        self._queue: Queue[_Job[Any] | None] = Queue(maxsize=queue_size)
        self._gate = threading.Lock()
        self._turn = threading.Lock()
        self._closed = False
        self._frozen: str | None = None
        self._thread = threading.Thread(target=self._serve, name="database-writer", daemon=True)
        self._thread.start()

    def submit(self, scope: Scope, work: Callable[[SqlTransaction], T]) -> T:
        """Queue a closure and wait for its commit."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a write inside a write would wait for itself")
        job = _Job(scope, work)
        with self._gate:
            if self._frozen is not None:
                raise ReadOnly(LOG, self._frozen)
            if self._closed:
                raise Unavailable(DEPENDENCY, "it is closed")
            try:
                self._queue.put_nowait(job)
            except Full as error:
                raise Overloaded(DEPENDENCY) from error
        return job.answer.result()

    def freeze(self, reason: str) -> None:
        """Refuse every write from now on, those that wait included; the first reason stays."""
        with self._gate:
            self._frozen = self._frozen or reason

    def paused(self) -> AbstractContextManager[object]:
        """Keep the thread from writing until this is left; what comes in waits in the queue."""
        return self._turn

    def close(self) -> None:
        """Finish what waits, then stop the thread."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        running = True
        while running:
            group, running = self._next_group()
            if group:
                with self._turn:
                    self._run_group(group)

    def _next_group(self) -> tuple[list[_Job[Any]], bool]:
        group: list[_Job[Any]] = []
        item = self._queue.get()
        while item is not None:
            group.append(item)
            if len(group) == MAX_GROUP:
                return group, True
            try:
                item = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _run_group(self, group: list[_Job[Any]]) -> None:
        if self._frozen is not None:
            for job in group:
                job.answer.set_exception(ReadOnly(LOG, self._frozen))
            return
        try:
            with domain_errors(), self._engine.begin() as connection:
                for job in group:
                    self._run_in_savepoint(connection, job)
        except Exception as error:  # noqa: BLE001 - if this thread died, callers would wait for ever
            self._engine.dispose()  # the next group gets a new connection
            detail = error.detail if isinstance(error, Unavailable) else repr(error)
            for job in group:
                job.answer.set_exception(Unavailable(DEPENDENCY, detail))
        else:
            for job in group:
                job.deliver()

    def _run_in_savepoint(self, connection: Connection, job: _Job[Any]) -> None:
        execute(connection, "SAVEPOINT request")
        if not job.run(self._begin(connection, job.scope)):
            execute(connection, "ROLLBACK TO request")
        # Fails if SQLite gave up the whole transaction (disk full, I/O error): see _run_group.
        execute(connection, "RELEASE request")

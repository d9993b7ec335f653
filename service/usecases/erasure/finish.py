"""What is done behind the transaction of an erasure, until nothing of it is left in any file.

Every step can be done again: after a crash, or when something was in the way, the next start or
the next look at the receipt does it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from service.domain.erasure import ErasureMode, ErasureRecord, ErasureStatus, Finding
from service.domain.erasure_text import Statements, normal
from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.clock import Clock
from service.ports.erasure import Places, Residue, Upkeep, Wanted
from service.ports.storage import SYSTEM, Database, Scope, Transaction
from service.ports.subject_keys import SubjectKeys, SubjectRef
from service.usecases.erasure.draw import Drawn

Forget = Callable[[SubjectRef], None]
_SHORTEST: Final = 8
"""Characters; a shorter text is in every file by chance, and is not searched for."""
_LOOKED_UP: Final = 8
_TRUNCATIONS: Final = 10
_PAUSE_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Steps:
    """What finishing an erasure uses.

    Attributes:
        forget: drops what is kept in memory about a user; called again once no reader sees the
            old state, because until then one may put it back.
        purge: rebuilds the vector index without erased vectors; False if it was busy.
        renew: builds the vector index anew although nothing says that it has to be.
        remember: repeats beside the keys what may not come back, for when a backup is restored.
        later: called when something is left to be done again.
    """

    upkeep: Upkeep
    keys: SubjectKeys
    residue: Residue
    forget: Sequence[Forget]
    purge: Callable[[], bool]
    remember: Callable[[], None]
    renew: Callable[[], object] = lambda: None
    later: Callable[[], None] = lambda: None


@dataclass(slots=True)
class _Found:
    """What is in the way, collected."""

    findings: list[Finding] = field(default_factory=list)

    def add(self, code: str, count: int = 0) -> None:
        self.findings.append(Finding(code, count))


class Finisher:
    """Finishes erasures, one at a time."""

    def __init__(self, *, database: Database, clock: Clock, steps: Steps) -> None:
        self._database = database
        self._clock = clock
        self._steps = steps
        self._busy = threading.Lock()
        self._wanted: dict[str, tuple[Wanted, Statements]] = {}
        self._rebuilt: set[str] = set()

    def expect(self, erasure_id: str, drawn: Drawn) -> None:
        """Remember what must not be found any more; in memory only, and not for long."""
        texts = {t for t in drawn.texts if len(normal(t)) >= _SHORTEST}
        wanted = Wanted(tuple(sorted(texts)), tuple(m.id for m in drawn.memories))
        self._wanted[erasure_id] = (wanted, Statements(drawn.said))

    def finish(self, tenant: str, record: ErasureRecord) -> ErasureRecord:
        """Return the receipt after everything that can be done now was done.

        While another erasure is being finished, the receipt is returned as it is.
        """
        after = self._alone(tenant, record)
        if after.status is not ErasureStatus.ERASED:
            self._steps.later()
        return after

    def forget(self, tenant: str, record: ErasureRecord) -> None:
        """Drop what is kept in memory; whoever began before the erasure may put it back."""
        for forget in self._steps.forget:
            forget(SubjectRef(tenant, record.subject_id))

    def resume(self) -> int:
        """Finish what is left, also from an earlier run; return how much is still incomplete."""
        for tenant, erasure_id in self._unfinished():
            record = self._record(tenant, erasure_id)
            if record is not None:
                self._alone(tenant, record)
        return len(self._unfinished())

    def _record(self, tenant: str, erasure_id: str) -> ErasureRecord | None:
        return self._database.read(
            _background(tenant), lambda tx: tx.erasure.records.get(erasure_id)
        )

    def _unfinished(self) -> Sequence[tuple[str, str]]:
        return self._database.read(SYSTEM, lambda tx: tx.erasure.records.unfinished())

    def _alone(self, tenant: str, record: ErasureRecord) -> ErasureRecord:
        if record.status is ErasureStatus.ERASED or not self._busy.acquire(blocking=False):
            return record
        try:
            return self._finish(tenant, record)
        finally:
            self._busy.release()

    def _finish(self, tenant: str, record: ErasureRecord) -> ErasureRecord:
        who = SubjectRef(tenant, record.subject_id)
        found = _Found()
        if record.mode is ErasureMode.ALL:
            _try(found, "key_not_destroyed", lambda: self._steps.keys.destroy(who))
        _try(found, "not_remembered", self._steps.remember)
        self.forget(tenant, record)
        if not self._truncate():
            found.add("old_state_still_read")
        self.forget(tenant, record)
        self._purge(found)
        self._search(tenant, record, found)
        return self._settle(tenant, record, found.findings)

    def _truncate(self) -> bool:
        for attempt in range(_TRUNCATIONS):
            if self._steps.upkeep.truncate():
                return True
            time.sleep(_PAUSE_SECONDS if attempt < _TRUNCATIONS - 1 else 0)
        return False

    def _purge(self, found: _Found) -> None:
        try:
            if not self._steps.purge():
                found.add("index_busy")
        except GroundkeeperError:
            found.add("index_not_rebuilt")

    def _search(self, tenant: str, record: ErasureRecord, found: _Found) -> None:
        """Search every file; the texts are known only to the process that erased them."""
        known = self._wanted.get(record.id)
        wanted, statements = known or (Wanted(ids=record.memory_ids), Statements(()))
        rows = self._rows(SubjectRef(tenant, record.subject_id), statements, record)
        if rows:
            found.add("rows_left", rows)
        try:
            if known is None:
                self._rebuild(record, found)
            places = self._steps.residue.search(wanted)
            if places.free_space or places.write_ahead_log or places.index:
                self._renew(record, places, found)
                places = self._steps.residue.search(wanted)
            self._report(places, found)
        except Unavailable:
            found.add("files_not_searched")

    def _rebuild(self, record: ErasureRecord, found: _Found) -> None:
        """Write the database anew, once: split pages can keep copies in their unused part."""
        if record.id in self._rebuilt:
            return
        self._steps.upkeep.rebuild()
        self._rebuilt.add(record.id)
        if not self._truncate():
            found.add("old_state_still_read")

    def _renew(self, record: ErasureRecord, places: Places, found: _Found) -> None:
        if places.index:
            _try(found, "index_not_rebuilt", self._steps.renew)
        if places.free_space or places.write_ahead_log:
            self._rebuild(record, found)

    def _rows(self, who: SubjectRef, statements: Statements, record: ErasureRecord) -> int:
        """Look at the user's own rows once more, in every table that has any."""
        wanted, _ = self._wanted.get(record.id, (Wanted(), None))
        texts = [t for t in wanted.texts if statements.are(t)][:_LOOKED_UP]

        def look(tx: Transaction) -> int:
            held = tx.erasure.held
            if record.mode is ErasureMode.ALL:
                return sum(held.counts(who.subject_id).values())
            cells = held.holding(who.subject_id, texts)
            return sum(statements.are_in(value) for _, value in cells)

        return self._database.read(_background(who.tenant), look)

    def _report(self, places: Places, found: _Found) -> None:
        """Turn what was found into findings; what somebody else holds is none of them.

        Where a row has the same text, a copy of it is that row's: the database was written anew
        before, from nothing but its rows.
        """
        counts = {"index_files": places.index, "key_files": places.keys}
        unused = {*places.free_space, *places.write_ahead_log}
        for code, texts in (("unused_space", unused), ("other_files", set(places.elsewhere))):
            counts[code] = sum(not self._held(text) for text in texts)
        for code, count in counts.items():
            if count:
                found.add(code, count)

    def _held(self, text: str) -> bool:
        return self._database.read(SYSTEM, lambda tx: tx.erasure.held.held_by_anybody(text))

    def _settle(
        self, tenant: str, record: ErasureRecord, findings: Sequence[Finding]
    ) -> ErasureRecord:
        done = not findings
        after = replace(
            record,
            status=ErasureStatus.ERASED if done else ErasureStatus.INCOMPLETE,
            findings=tuple(findings),
            finished_at=self._clock.now() if done else None,
        )
        try:
            self._database.write(_background(tenant), lambda tx: tx.erasure.records.finish(after))
        except Unavailable:
            return replace(record, findings=(Finding("not_recorded"),))
        if done:
            self._wanted.pop(record.id, None)
            self._rebuilt.discard(record.id)
        return after


def _try(found: _Found, code: str, step: Callable[[], object]) -> None:
    try:
        step()
    except GroundkeeperError:
        found.add(code)


def _background(tenant: str) -> Scope:
    return Scope(tenant, SYSTEM.key)

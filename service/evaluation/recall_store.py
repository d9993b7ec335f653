"""A store in a temporary folder, filled with the memories of a case and asked as the service is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.adapters.db.database import open_database
from service.adapters.signing.ed25519 import open_signer
from service.adapters.system import RandomIdentifiers, SystemClock
from service.adapters.vectors.cache import SqlVectors
from service.domain import memory_state
from service.domain.digests import text_digest
from service.domain.memory import (
    Memory,
    MemoryAction,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    Triple,
)
from service.domain.recall.eligible import Filters
from service.ports.index import IndexHit, IndexKey, IndexState, Vector
from service.ports.models import Embedder, EntailmentModel
from service.ports.storage import Database, Scope, StoredAnswer, Transaction
from service.usecases.journal import Journal, Step
from service.usecases.recall import RecallCommand, Recalled
from service.usecases.recall_services import Finding, recall_services
from service.usecases.reconcile import embed_missing

SCOPE = Scope("default", "local")
_CACHE = 64_000_000
Row = Mapping[str, Any]


class ExactNearest:
    """Implements ``NearestMemories`` over SQL alone."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors = SqlVectors(_CACHE)

    def search(self, tx: Transaction, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest memories of one user, best first."""
        return self._vectors.search(tx, key, self._embedder.identity.digest, query, limit)

    def state(self) -> IndexState:
        """Return that nothing but SQL serves."""
        return IndexState("exact", "none", 0, 0)


class CaseStore:
    """Memories of a case, and the use cases that read them."""

    def __init__(self, folder: Path, embedder: Embedder, nli: EntailmentModel) -> None:
        self.clock, self.identifiers = SystemClock(), RandomIdentifiers()
        self.database: Database = open_database(
            folder / "data" / "cases.db", clock=self.clock, identifiers=self.identifiers
        )
        self._embedder = embedder
        signer = open_signer(folder / "keys")
        finding = Finding(ExactNearest(embedder), embedder, nli, signer)
        services = recall_services(self.database, self.clock, self.identifiers, finding)
        self.recall, self.receipts = services.recall, services.receipts

    def seed(self, rows: Sequence[Row], user_id: str, scope: Scope = SCOPE) -> list[Memory]:
        """Store the memories of a case; a row with ``superseded_by`` is replaced afterwards."""

        def work(tx: Transaction) -> list[Memory]:
            subject = {
                name: tx.subjects.id_for(name) for name in (r.get("user_id", user_id) for r in rows)
            }
            made: list[Memory] = []
            for row in rows:
                name = row.get("user_id", user_id)
                now = self.clock.now()
                memory = self._memory(row, Owner(subject[name], name), now)
                made.append(
                    Journal(tx, subject[name], now).write(Step(MemoryAction.CREATED, memory))
                )
            names = {row["id"]: m.id for row, m in zip(rows, made, strict=True) if "id" in row}
            return [self._retired(tx, row, m, names) for row, m in zip(rows, made, strict=True)]

        stored = self.database.write(scope, work)
        while embed_missing(self.database, self._embedder, scope.tenant):
            pass
        return stored

    def ask(self, query: str, user_id: str, scope: Scope = SCOPE, **given: Any) -> Recalled:  # noqa: ANN401
        """Recall; fields of ``Filters`` and of ``RecallCommand`` may be given by name."""
        own = {k: v for k, v in given.items() if k in Filters.__dataclass_fields__}
        rest = {k: v for k, v in given.items() if k not in own}
        command = RecallCommand(user_id, query, filters=Filters(**own), **rest)
        found = self.recall.run(scope, command)
        if isinstance(found, StoredAnswer):
            raise TypeError("there was no key to repeat")
        return found

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def _memory(self, row: Row, owner: Owner, now: datetime) -> Memory:
        text = row["fact"]
        said = _moment(row.get("observed_at")) or now
        return Memory(
            id=self.identifiers.new("mem"),
            owner=replace(owner, agent_id=row.get("agent_id"), session_id=row.get("session_id")),
            text=text,
            type=MemoryType(row.get("type", "fact")),
            triple=Triple(row.get("subject", "user"), row.get("attribute", "statement"), text),
            importance=row.get("importance", 0.5),
            status=MemoryStatus.ACTIVE,
            origin=Origin(None, "user", text, 0, len(text), text_digest(text)),
            observed_at=said,
            recorded_at=now,
            updated_at=now,
            verdict="STORE",
            decision_id=None,
            policy_fingerprint="none",
            content_hash="",
            state_hash="",
            valid_from=_moment(row.get("valid_from")),
            valid_to=_moment(row.get("valid_to")),
            expires_at=_moment(row.get("expires_at")),
        )

    def _retired(
        self, tx: Transaction, row: Row, memory: Memory, names: Mapping[str, str]
    ) -> Memory:
        if row.get("status") != MemoryStatus.SUPERSEDED.value:
            return memory
        now, by = self.clock.now(), names.get(row.get("superseded_by", ""), "mem_unknown")
        until = _moment(row.get("valid_to"))
        after = memory_state.superseded(memory, by=by, reason="update", at=now, until=until)
        journal = Journal(tx, memory.owner.subject_id, now)
        return journal.write(Step(MemoryAction.SUPERSEDED, after, memory, "update", by))


@contextmanager
def case_store(embedder: Embedder, nli: EntailmentModel) -> Iterator[CaseStore]:
    """Open a store that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        store = CaseStore(Path(folder), embedder, nli)
        try:
            yield store
        finally:
            store.close()


def _moment(value: str | None) -> datetime | None:
    if value is None:
        return None
    found = datetime.fromisoformat(value)
    return found if found.tzinfo else found.replace(tzinfo=UTC)

"""A database with memories, an embedder that needs no model, and runtimes on them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.system import RandomIdentifiers, SystemClock
from service.adapters.vectors.runtime import IndexRuntime, IndexSettings
from service.domain.memory import Memory, MemoryStatus, MemoryType, Origin, Owner, Triple
from service.ports.index import IndexKey
from service.ports.models import ModelIdentity
from service.ports.storage import Scope
from service.usecases.reconcile import store_embedding

SCOPE = Scope("acme", "key_1")
NOW = datetime(2026, 11, 29, 17, tzinfo=UTC)


class HashEmbedder:
    """The same text gets the same vector; each model has its own vectors."""

    def __init__(self, name: str = "a", dimensions: int = 16) -> None:
        digest = "sha256:" + hashlib.sha256(name.encode()).hexdigest()
        self.identity = ModelIdentity(name, "embedder", digest)
        self.dimensions = dimensions

    def embed(self, texts) -> np.ndarray:
        rows = [self._row(text) for text in texts]
        return np.stack(rows).astype(np.float32)

    def _row(self, text: str) -> np.ndarray:
        seed = hashlib.sha256(f"{self.identity.digest}{text}".encode()).digest()
        row = np.random.default_rng(int.from_bytes(seed[:8], "big")).normal(size=self.dimensions)
        return row / np.linalg.norm(row)


class Store:
    """Memories of one tenant's users, written and searched as use cases do it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database: SqlDatabase = open_database(
            folder / "data.db", clock=SystemClock(), identifiers=RandomIdentifiers()
        )
        self.embedder = HashEmbedder()
        self.runtimes: list[IndexRuntime] = []

    def key(self, user: str) -> IndexKey:
        return IndexKey(SCOPE.tenant, self.database.write(SCOPE, lambda t: t.subjects.id_for(user)))

    def runtime(self, *, start: bool = True, **given) -> IndexRuntime:
        values = {"large": 20, "poll_seconds": 0.02, "reconcile_seconds": 600.0}
        made = IndexRuntime(
            self.database, self.embedder, IndexSettings(self.folder / "index", **values | given)
        )
        self.runtimes.append(made)
        if start:
            made.start()
        return made

    def remember(self, user: str, *names: str, embedded: bool = True) -> None:
        key = self.key(user)
        memories = [memory(key.subject_id, user, name) for name in names]
        vectors = self.embedder.embed([m.text for m in memories])

        def work(tx) -> None:
            for made, vector in zip(memories, vectors, strict=True):
                tx.memories.add(made)
                tx.outbox.put(made.id)
                if embedded:
                    store_embedding(tx, made, vector, self.embedder.identity.digest)

        self.database.write(SCOPE, work)

    def erase(self, *names: str) -> None:
        """What the erasure use case does to these memories, as far as vectors are concerned."""

        def work(tx) -> None:
            for name in names:
                tx.memories._session.connection.exec_driver_sql(
                    "DELETE FROM memory WHERE id = ?", (f"mem_{name}",)
                )
                tx.outbox.put(f"mem_{name}")

        self.database.write(SCOPE, work)

    def found(self, runtime: IndexRuntime, user: str, name: str) -> bool:
        """Whether a memory's own text finds it first."""
        key, query = self.key(user), self.embedder.embed([text(name)])[0]
        hits = self.database.read(SCOPE, lambda tx: runtime.search(tx, key, query, 3))
        return bool(hits) and hits[0].memory_id == f"mem_{name}" and hits[0].cosine > 0.999

    def rebuilds(self) -> list[str]:
        rows = self.database.read(Scope("system", "system"), lambda tx: list(tx.audit.scan()))
        return [str(r.entry) for r in rows if b"index.rebuilt" in r.entry]

    def close(self) -> None:
        for runtime in self.runtimes:
            runtime.close()
        self.database.close()


def text(name: str) -> str:
    return f"The user likes {name}"


def memory(subject_id: str, user: str, name: str) -> Memory:
    return Memory(
        id=f"mem_{name}",
        owner=Owner(subject_id, user),
        text=text(name),
        type=MemoryType.FACT,
        triple=Triple("user", "likes", name),
        importance=0.5,
        status=MemoryStatus.ACTIVE,
        origin=Origin(None, "user", text(name), 0, 5, "o" * 64),
        observed_at=NOW,
        recorded_at=NOW,
        updated_at=NOW,
        verdict="STORE",
        decision_id=None,
        policy_fingerprint="f1",
        content_hash="c" * 64,
        state_hash="s" * 64,
    )


@pytest.fixture
def eventually() -> Callable:
    """Wait until a condition holds; return whether it ever did."""

    def eventually(condition: Callable[[], bool], seconds: float = 20) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False

    return eventually


@pytest.fixture
def in_step(eventually) -> Callable:
    """Wait until the index has taken everything in and serves as it should."""

    def in_step(runtime: IndexRuntime, serving: str = "chroma") -> bool:
        def reached() -> bool:
            state = runtime.state()
            return state.serving == serving and not (state.lag or state.note)

        return eventually(reached)

    return in_step


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path)
    yield made
    made.close()


@pytest.fixture
def logs() -> Iterator[list]:
    with capture_logs() as captured:
        yield captured

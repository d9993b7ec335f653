"""The vector index as the rest of the service sees it: search, state, and a thread behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping

import structlog

from service.adapters.vectors.cache import SqlVectors
from service.adapters.vectors.keeper import IndexSettings, Keeper
from service.domain.errors import GroundkeeperError, InvalidInput, Unavailable
from service.ports.index import IndexHit, IndexKey, IndexState, Vector
from service.ports.models import Embedder
from service.ports.storage import SYSTEM, Database, Transaction
from service.usecases.readiness import ProbeState
from service.usecases.reconcile import REFUSED

__all__ = ["IndexRuntime", "IndexSettings"]

_log = structlog.get_logger("groundkeeper.index")
_STARTING = "starting"
_COALESCE = 0.05
_YIELD = 0.002  # between batches, for whoever waits to purge or to close


class IndexRuntime:
    """Implements ``NearestMemories``; ``start`` begins to follow SQL, ``search`` works without.

    Chroma serves users with many vectors, the exact index everybody else, and everybody while
    Chroma cannot: what differs is only how long an answer takes.
    """

    def __init__(self, database: Database, embedder: Embedder, settings: IndexSettings) -> None:
        self._database = database
        self._embedder = embedder
        self._settings = settings
        self._cache = SqlVectors(settings.cache_bytes)
        self._closing = threading.Event()
        self._keeper = Keeper(database, embedder, self._cache, settings, self._closing.is_set)
        self._work = threading.Lock()
        self._wake = threading.Event()
        self._opened = False
        self._due = 0.0
        self._fault = _STARTING
        self._thread = threading.Thread(target=self._run, name="vector-index", daemon=True)

    def start(self) -> None:
        """Begin to follow SQL and return at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread and close the folder properly."""
        self._closing.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()
        with self._work:
            self._keeper.close()
        self._cache.clear()

    def wake(self) -> None:
        """Say that something was written; otherwise the thread looks by itself, a little later."""
        self._wake.set()

    def search(self, tx: Transaction, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest memories of one user that this transaction sees, best first."""
        if key.tenant != tx.scope.tenant:
            raise InvalidInput("tenant", "is not the one of this transaction")
        digest = self._embedder.identity.digest
        serving = self._keeper.serving
        if serving is not None and key in serving and serving.digest == digest:
            try:
                return serving.search(tx, key, query, limit)
            except Unavailable as error:
                if error.dependency != "index":
                    raise
                self._keeper.blame(serving, error.detail)
                self._wake.set()
        return self._cache.search(tx, key, digest, query, limit)

    def cosines(
        self, tx: Transaction, key: IndexKey, query: Vector, memory_ids: Iterable[str]
    ) -> Mapping[str, float]:
        """Return cosines of memories that this transaction sees, of those that are in memory."""
        if key.tenant != tx.scope.tenant:
            raise InvalidInput("tenant", "is not the one of this transaction")
        return self._cache.cosines(key, self._embedder.identity.digest, query, memory_ids)

    def forget(self, tenant: str, subject_id: str) -> None:
        """Drop a user's vectors from memory; a search reads them again."""
        self._cache.drop(IndexKey(tenant, subject_id))

    def purge(self, timeout_seconds: float = 60.0) -> bool:
        """Apply what waits now, and rebuild if erased vectors are still in a folder.

        Returns False if the thread was busy for that long, or an old folder cannot be deleted yet;
        it will do the same by itself.
        """
        if not self._work.acquire(timeout=timeout_seconds):
            return False
        try:
            self._begin()
            self._keeper.apply_outbox()
            return self._keeper.sweep()
        finally:
            self._work.release()

    def reindex(self) -> IndexState:
        """Embed what lacks a vector, rebuild the index from SQL, and return what it is then."""
        with self._work:
            self._begin()
            while self._keeper.embed_some():
                pass
            self._keeper.reindex()
        return self.state()

    def state(self) -> IndexState:
        """Return what serves, how far behind it is, and why it is not what it should be."""
        serving = self._keeper.serving
        lag = sum(self._database.read(SYSTEM, lambda tx: tx.embeddings.waiting()).values())
        return IndexState(
            serving="exact" if serving is None else "chroma",
            generation="none" if serving is None else serving.folder.name,
            vectors=self._keeper.vectors,
            lag=lag,
            note=self._note(),
        )

    def probe(self) -> ProbeState:
        """Return the line of ``/ready``; only refused vectors keep the service from its work."""
        try:
            state = self.state()
        except GroundkeeperError as error:
            return ProbeState("index", ok=False, detail=str(error))
        detail = f"{state.serving}, generation {state.generation}, {state.vectors} vectors"
        detail += f", lag {state.lag}" + (f"; {state.note}" if state.note else "")
        return ProbeState("index", ok=not self._fault.startswith(f"{REFUSED}: "), detail=detail)

    def _note(self) -> str:
        if self._thread.ident is not None and not self._thread.is_alive():
            return "its thread has stopped"
        return self._fault or self._keeper.note

    def _begin(self) -> None:
        if not self._opened:
            self._keeper.open()
            self._opened = True

    def _run(self) -> None:
        while not self._closing.is_set():
            if self._pass():
                self._closing.wait(_YIELD)
                continue
            self._wake.wait(self._settings.poll_seconds)
            self._closing.wait(_COALESCE if self._wake.is_set() else 0)
            self._wake.clear()

    def _pass(self) -> bool:
        """Do what there is to do; return whether there is more that should not wait."""
        try:
            with self._work:
                self._begin()
                if time.monotonic() < self._due:
                    self._keeper.apply_outbox()
                elif self._keeper.embed_some():
                    return True
                else:
                    self._keeper.reconcile()
                    self._due = time.monotonic() + self._settings.reconcile_seconds
        except GroundkeeperError as error:
            if self._fault != str(error):
                _log.warning("index waits", reason=str(error))
            self._fault = str(error)
        else:
            self._fault = ""
        return False

"""What the index's thread does: follow SQL, notice what is wrong, rebuild, and say so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from service.adapters.vectors.builder import build
from service.adapters.vectors.cache import SqlVectors
from service.adapters.vectors.canary import WEAK
from service.adapters.vectors.chroma import overwrite_freed_memory
from service.adapters.vectors.generations import Generations
from service.adapters.vectors.serving import Serving
from service.domain.errors import Unavailable
from service.ports.index import IndexKey
from service.ports.models import Embedder
from service.ports.storage import SYSTEM, Database
from service.usecases.reconcile import (
    BATCH,
    OnModelChange,
    Rebuilt,
    background,
    embed_missing,
    large_users,
    record_rebuild,
    refuse_other_models,
    tenants,
)

_log = structlog.get_logger("groundkeeper.index")
_OUTBOX = 500
_SWEEPS, _SWEEP_PAUSE = 50, 0.1
_SETTLE_AFTER = 500  # changes, before looking for users who became large


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How the index is kept.

    Attributes:
        directory: where generations live; nothing else may be in it.
        on_model_change: what to do with vectors of another model.
        large: users with at least so many vectors are served by Chroma, all others exactly.
        poll_seconds: how long a change may wait for a thread that nobody woke.
        reconcile_seconds: how often everything is compared.
        cache_bytes: how much memory the exact index may keep.
    """

    directory: Path
    on_model_change: OnModelChange = OnModelChange.REEMBED
    large: int = 5_000
    poll_seconds: float = 1.0
    reconcile_seconds: float = 600.0
    cache_bytes: int = 48 * 1024 * 1024


class Keeper:
    """Owns the generations. ``serving`` and ``blame`` are for any thread, the rest for one.

    ``note`` says why Chroma does not serve although it should; empty when all is well.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        cache: SqlVectors,
        settings: IndexSettings,
        stopping: Callable[[], bool],
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._cache = cache
        self._settings = settings
        self._stopping = stopping
        self._generations = Generations(settings.directory)
        self._swap = threading.Lock()
        self._serving: Serving | None = None
        self._suspect: tuple[Serving, str] | None = None
        self._weak: frozenset[IndexKey] = frozenset()
        self._unsettled = 0
        self.note = ""
        self.vectors = 0

    @property
    def serving(self) -> Serving | None:
        """Return the generation that serves, if one does."""
        return self._serving

    def blame(self, serving: Serving, reason: str) -> None:
        """Stop serving from a generation that failed; ``settle`` puts its folder aside."""
        with self._swap:
            if self._serving is serving:
                self._serving, self._suspect, self.note = None, (serving, reason), reason

    def open(self) -> None:
        """Open the folder that was left, or put it aside; raises for vectors of a refused model."""
        digest = self._embedder.identity.digest
        refuse_other_models(self._database, digest, self._settings.on_model_change)
        folder = self._generations.current()
        self._generations.sweep()
        if folder is None:
            return
        overwrite_freed_memory()
        try:
            opened = Serving.reopen(folder, digest, large_users(self._database, digest, 1))
        except Unavailable as error:
            self._put_aside(folder, error.detail)
            return
        with self._swap:
            self._serving = opened

    def apply_outbox(self) -> None:
        """Take in every change that waits; doing it twice changes nothing."""
        for tenant in self._database.read(SYSTEM, lambda tx: tx.embeddings.waiting()):
            while applied := self._apply_some(tenant):
                self._unsettled += applied
        serving = self._serving
        if self._suspect or (serving and serving.spoiled) or self._unsettled >= _SETTLE_AFTER:
            self.settle()

    def embed_some(self) -> int:
        """Embed one batch of each tenant's memories that lack a vector; return how many."""
        return sum(
            embed_missing(self._database, self._embedder, tenant)
            for tenant in tenants(self._database)
        )

    def reconcile(self) -> None:
        """Compare everything with SQL; put right what differs, rebuild what cannot be."""
        self.apply_outbox()
        serving = self._serving
        if serving is not None:
            self._compare(serving)
        self._cache.keep(self.settle())

    def settle(self) -> Mapping[IndexKey, int]:
        """Put aside what failed, rebuild what has to be, take in users who became large."""
        self._unsettled = 0
        reason = self._clear_suspect()
        digest = self._embedder.identity.digest
        sizes = large_users(self._database, digest, 1)
        self.vectors = sum(sizes.values())
        large = self._large(sizes)
        if 2 * max(sizes.values(), default=0) >= self._settings.large:
            overwrite_freed_memory()  # well before the first user of Chroma
        serving = self._serving
        if serving is not None and serving.spoiled:
            self.rebuild(serving.spoiled)
        elif serving is not None:
            for key in large:
                if key not in serving:
                    self._admit(serving, key)
        elif large:
            self.rebuild(reason or self.note or "no_index")
        else:
            self._retire()
        return sizes

    def reindex(self) -> None:
        """Rebuild whatever there is, because somebody asked."""
        self._weak = frozenset()
        self.apply_outbox()
        self._clear_suspect()
        self.rebuild("asked")

    def rebuild(self, reason: str) -> None:
        """Build a generation from SQL beside the one that serves, try it, and swap."""
        started = time.monotonic()
        digest = self._embedder.identity.digest
        users = self._large(large_users(self._database, digest, self._settings.large))
        if not users:
            self._retire()
            self._report(Rebuilt("none", reason, digest, 0, 0, 1.0), started)
            return
        folder = self._generations.fresh()
        try:
            built = build(folder, self._database, digest, users, self._stopping)
        except Unavailable as error:
            self._give_up(reason, error.detail)
            return
        if built.weak:
            built.serving.close(properly=False)
            self._weak |= built.weak
            _log.warning("users served exactly", count=len(built.weak), recall=built.recall)
            self.rebuild(reason)
            return
        self._generations.promote(folder)
        self._replace(built.serving)
        self._generations.sweep()
        count = built.serving.count()
        self._report(Rebuilt(folder.name, reason, digest, len(users), count, built.recall), started)

    def sweep(self) -> bool:
        """Delete every folder that does not serve; return whether none is left.

        One that was put aside has what was erased. Chroma goes on writing for a moment after it was
        closed, and a folder that grows cannot be deleted in one go.
        """
        for _ in range(_SWEEPS):
            self._generations.sweep()
            if not self._generations.others():
                return True
            time.sleep(_SWEEP_PAUSE)
        return False

    def close(self) -> None:
        """Close the folder properly, so that the next start trusts it."""
        with self._swap:
            serving, self._serving = self._serving, None
        if serving is not None:
            serving.close(properly=not serving.spoiled)

    def _large(self, sizes: Mapping[IndexKey, int]) -> list[IndexKey]:
        least = self._settings.large
        return [key for key, size in sizes.items() if size >= least and key not in self._weak]

    def _compare(self, serving: Serving) -> None:
        for key in serving.users:
            try:
                problem = serving.compare(self._database, key)
            except Unavailable as error:
                problem = error.detail
            if problem == "erasure":
                serving.spoiled = problem
            elif problem:
                self.blame(serving, problem)
                return

    def _give_up(self, reason: str, detail: str) -> None:
        self.note = f"rebuild failed: {detail}"
        _log.error("index rebuild failed", reason=reason, detail=detail)
        serving = self._serving
        if serving is not None and serving.spoiled:
            self._retire()  # what was erased must go, with or without a successor
        self._generations.sweep()

    def _apply_some(self, tenant: str) -> int:
        scope, digest = background(tenant), self._embedder.identity.digest
        items = self._database.read(scope, lambda tx: tx.outbox.pending(_OUTBOX))
        if not items:
            return 0
        ids = list(dict.fromkeys(item.memory_id for item in items))
        owners = self._database.read(scope, lambda tx: tx.embeddings.owners(ids))
        self._embed_among(tenant, list(owners))
        self._forget(tenant, [memory_id for memory_id in ids if memory_id not in owners])
        serving = self._serving
        for subject in sorted(set(owners.values())) if serving else ():
            key = IndexKey(tenant, subject)
            if serving and key in serving and serving.digest == digest:
                self._follow(serving, key)
        self._database.write(scope, lambda tx: tx.outbox.done(items[-1].position))
        return len(items)

    def _embed_among(self, tenant: str, ids: Sequence[str]) -> None:
        while ids and embed_missing(self._database, self._embedder, tenant, ids) == BATCH:
            pass

    def _forget(self, tenant: str, gone: list[str]) -> None:
        if not gone:
            return
        self._cache.forget(tenant, gone)
        serving = self._serving
        try:
            if serving and serving.remove(tenant, gone):
                serving.spoiled = "erasure"  # Chroma keeps deleted vectors on disk
        except Unavailable as error:
            if serving:
                self.blame(serving, error.detail)

    def _follow(self, serving: Serving, key: IndexKey) -> None:
        try:
            serving.follow(self._database, key)
        except Unavailable as error:
            self.blame(serving, error.detail)

    def _admit(self, serving: Serving, key: IndexKey) -> None:
        try:
            problem = serving.admit(self._database, key).problem
        except Unavailable as error:
            problem = error.detail
        if problem == WEAK:
            self._weak |= {key}
            _log.warning("users served exactly", count=1)
        elif problem:
            self.blame(serving, problem)

    def _clear_suspect(self) -> str:
        with self._swap:
            suspect, self._suspect = self._suspect, None
        if suspect is None:
            return ""
        serving, reason = suspect
        serving.close(properly=False)
        self._put_aside(serving.folder, reason)
        return reason

    def _put_aside(self, folder: Path, reason: str) -> None:
        self.note = reason
        self._generations.quarantine(folder)
        _log.warning("index put aside", generation=folder.name, reason=reason)

    def _replace(self, successor: Serving | None) -> None:
        with self._swap:
            old, self._serving, self.note = self._serving, successor, ""
        if old is not None:
            old.close(properly=False)

    def _retire(self) -> None:
        self._replace(None)
        self._generations.drop()

    def _report(self, rebuilt: Rebuilt, started: float) -> None:
        _log.info(
            "index rebuilt",
            generation=rebuilt.generation,
            reason=rebuilt.reason,
            users=rebuilt.users,
            vectors=rebuilt.vectors,
            recall=round(rebuilt.recall, 4),
            seconds=round(time.monotonic() - started, 3),
        )
        record_rebuild(self._database, rebuilt)

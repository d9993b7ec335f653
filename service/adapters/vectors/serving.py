"""The generation that serves: its folder, its index, and how far each user's part of it goes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from service.adapters.vectors.canary import Finding, examine, finds_itself
from service.adapters.vectors.chroma import ChromaIndex, collection_name
from service.adapters.vectors.generations import Seal, break_seal, close_properly
from service.adapters.vectors.matrix import ranked
from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.embeddings import SubjectVectors
from service.ports.index import IndexHit, IndexKey, Vector
from service.ports.storage import Database, Transaction
from service.usecases.reconcile import background


class Serving:
    """One open folder of Chroma with the users in it.

    ``position`` of a user is the last vector of theirs that is in the index; a search reads the
    later ones from SQL and compares them exactly, so nothing that was written is missed.
    ``spoiled`` says why the folder has to be rebuilt although it can go on serving until then.
    """

    def __init__(self, folder: Path, digest: str) -> None:
        self.folder = folder
        self.digest = digest
        self._index = ChromaIndex(folder)
        self._positions: dict[IndexKey, int] = {}
        self._held: set[IndexKey] = set()
        self.spoiled = ""

    @classmethod
    def reopen(cls, folder: Path, digest: str, users: Iterable[IndexKey]) -> Serving:
        """Open a folder that was closed properly; raises ``Unavailable`` for any other."""
        seal = break_seal(folder)
        if seal is None:
            raise Unavailable("index", "not_closed_properly")
        if seal.digest != digest:
            raise Unavailable("index", "model_changed")
        serving = cls(folder, digest)
        known = {collection_name(key): key for key in users}
        names = serving._index.names()
        serving._held = {known[name] for name in names & known.keys()}
        if names - known.keys():
            serving.spoiled = "erasure"
        for name, position in seal.positions.items():
            if name in known:
                serving._positions[known[name]] = position
        return serving

    @property
    def users(self) -> tuple[IndexKey, ...]:
        """Return whose vectors are in it."""
        return tuple(self._positions)

    def __contains__(self, key: IndexKey) -> bool:
        return key in self._positions

    def search(self, tx: Transaction, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest of the index and of what it does not have yet, scored from SQL."""
        found = self._index.search(key, query, limit)
        ids = [hit.memory_id for hit in found]
        kept = tx.embeddings.many(key.subject_id, self.digest, ids)
        newer = tx.embeddings.of_subject(key.subject_id, self.digest, self._positions[key])
        hits = {hit.memory_id: hit for hit in ranked(kept.ids, kept.matrix, query)}
        hits |= {hit.memory_id: hit for hit in ranked(newer.ids, newer.matrix, query)}
        return sorted(hits.values(), key=lambda hit: (-hit.cosine, hit.memory_id))[:limit]

    def follow(self, database: Database, key: IndexKey) -> None:
        """Take in what was written for a user since."""
        newer = self._truth(database, key, self._positions.get(key, 0))
        self._held.add(key)
        self._index.put(key, newer.ids, newer.matrix)
        self._positions[key] = newer.position

    def admit(self, database: Database, key: IndexKey) -> Finding:
        """Take in a new user; they are served from here only if the canary finds nothing wrong."""
        truth = self._truth(database, key)
        self._held.add(key)
        self._index.put(key, truth.ids, truth.matrix)
        finding = examine(self._index, key, truth)
        if not finding.problem:
            self._positions[key] = truth.position
        return finding

    def remove(self, tenant: str, memory_ids: list[str]) -> bool:
        """Forget erased memories; return whether any was in the index."""
        held = False
        for key in tuple(self._held):
            if key.tenant == tenant and self._index.holds(key, memory_ids):
                self._index.remove(key, memory_ids)
                held = True
        return held

    def check(self, database: Database, key: IndexKey) -> Finding:
        """Put a user's part up to date and compare it with SQL in every respect."""
        self.follow(database, key)
        return examine(self._index, key, self._truth(database, key))

    def compare(self, database: Database, key: IndexKey) -> str:
        """Put a user's part up to date; return what is wrong with its ids or with a sample."""
        self.follow(database, key)
        truth = self._truth(database, key)
        held = self._index.ids(key)
        if held - frozenset(truth.ids):
            return "erasure"
        if held != frozenset(truth.ids):
            return "ids_differ"
        chance = np.random.default_rng()
        return "" if finds_itself(self._index, key, truth, chance) else "vector_unreachable"

    def count(self) -> int:
        """Return how many vectors it holds."""
        return self._index.count()

    def close(self, *, properly: bool) -> None:
        """Let go of the folder; without ``properly`` it will not be trusted again."""
        try:
            self._index.close()
        except GroundkeeperError:
            return
        if properly:
            positions = {collection_name(key): at for key, at in self._positions.items()}
            close_properly(self.folder, Seal(self.digest, positions))

    def _truth(self, database: Database, key: IndexKey, after: int = 0) -> SubjectVectors:
        return database.read(
            background(key.tenant),
            lambda tx: tx.embeddings.of_subject(key.subject_id, self.digest, after),
        )

"""One folder of Chroma: ids and vectors, nothing else.

Chroma is imported when the first folder is opened. It gets no documents, no metadata and no
embedding function, sends nothing, and reads neither ``.env`` nor a home directory. Each user has a
collection of their own, named by a hash: a filter over one collection for all was 15 times slower
at 10,000 vectors, and would let one user's vectors shape another's answers.

Everything that goes wrong in it is ``Unavailable``: the caller puts the folder aside.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.index import IndexHit, IndexKey, Vector

INDEX: Final = "index"
_FILE: Final = "chroma.sqlite3"
_BATCH: Final = 2_000
_M_PERTURB: Final = -6  # mallopt(3)
_HNSW: Final = {"space": "cosine", "max_neighbors": 24, "ef_construction": 200, "ef_search": 200}


class ChromaIndex:
    """Implements ``VectorIndex`` on one folder, which must be this process's alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with guarded():
            self._client = _open(folder)
        self._collections: dict[IndexKey, Any] = {}
        self._inode = self._file()

    def put(self, key: IndexKey, memory_ids: Sequence[str], vectors: Vector) -> None:
        """Add or replace vectors."""
        with guarded():
            self._check()
            collection: Any = self._collection(key, make=True)
            for start in range(0, len(memory_ids), _BATCH):
                part = slice(start, start + _BATCH)
                collection.upsert(ids=list(memory_ids[part]), embeddings=vectors[part])

    def remove(self, key: IndexKey, memory_ids: Sequence[str]) -> None:
        """Forget vectors; unknown ids are ignored."""
        with guarded():
            self._check()
            collection = self._collection(key)
            if collection is not None and memory_ids:
                collection.delete(ids=list(memory_ids))

    def search(self, key: IndexKey, query: Vector, limit: int) -> list[IndexHit]:
        """Return the nearest vectors of one user, best first."""
        with guarded():
            self._check()
            collection = self._collection(key)
            if collection is None or limit < 1:
                return []
            found = collection.query(
                query_embeddings=[query], n_results=limit, include=["distances"]
            )
            ids, distances = found["ids"][0], found["distances"][0]
        hits = [IndexHit(i, 1.0 - float(d)) for i, d in zip(ids, distances, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.cosine, hit.memory_id))

    def ids(self, key: IndexKey) -> frozenset[str]:
        """Return the ids of one user's vectors."""
        with guarded():
            self._check()
            collection = self._collection(key)
            return frozenset(() if collection is None else collection.get(include=[])["ids"])

    def holds(self, key: IndexKey, memory_ids: Sequence[str]) -> bool:
        """Return whether any of the ids is one of this user's."""
        with guarded():
            self._check()
            collection = self._collection(key)
            if collection is None or not memory_ids:
                return False
            return bool(collection.get(ids=list(memory_ids), include=[])["ids"])

    def names(self) -> frozenset[str]:
        """Return the names of all collections."""
        with guarded():
            self._check()
            return frozenset(c.name for c in self._client.list_collections())

    def count(self) -> int:
        """Return how many vectors there are."""
        with guarded():
            self._check()
            return sum(int(c.count()) for c in self._client.list_collections())

    def close(self) -> None:
        """Let go of the folder."""
        with guarded():
            self._collections.clear()
            self._client.close()

    def _collection(self, key: IndexKey, *, make: bool = False) -> Any | None:  # noqa: ANN401
        if key not in self._collections:
            name = collection_name(key)
            if make:
                self._collections[key] = self._client.get_or_create_collection(
                    name, configuration={"hnsw": _HNSW}, embedding_function=None
                )
            elif name in {c.name for c in self._client.list_collections()}:
                self._collections[key] = self._client.get_collection(name, embedding_function=None)
        return self._collections.get(key)

    def _file(self) -> int | None:
        try:
            return (self._folder / _FILE).stat().st_ino
        except OSError:
            return None

    def _check(self) -> None:
        # A deleted folder goes on answering from open files, and is gone at the next start.
        if self._inode is None or self._file() != self._inode:
            raise Unavailable(INDEX, "the folder of the index is gone or was replaced")


def collection_name(key: IndexKey) -> str:
    """Return the name of a user's collection, which tells nothing about them."""
    return hashlib.sha256(f"{key.tenant}\0{key.subject_id}".encode()).hexdigest()[:40]


@contextmanager
def guarded() -> Iterator[None]:
    """Turn whatever Chroma raises into ``Unavailable``, also a panic of its native part."""
    try:
        yield
    except GroundkeeperError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise Unavailable(INDEX, f"Chroma failed: {type(error).__name__}") from error
        raise


def overwrite_freed_memory() -> bool:
    """Let the C library overwrite what is freed and what is handed out; return whether it can.

    Chroma's index files are as large as their capacity, and what no vector has filled yet is
    written as it was allocated: memory that this process used before, with texts of anybody in it
    (chromadb 1.5.9; seen in ``data_level0.bin`` and ``length.bin``). Only glibc can be told so, and
    it has to be told before there are any texts.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    return set_option is not None and set_option(_M_PERTURB, 1) == 1


def _open(folder: Path) -> Any:  # noqa: ANN401 - chromadb has no types that mypy can follow
    import chromadb  # noqa: PLC0415 - takes a second, and small stores never need it
    from chromadb.config import Settings  # noqa: PLC0415

    # Its settings read the environment without a prefix: all that matter are given here.
    settings = Settings(
        _env_file=None,
        chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
        anonymized_telemetry=False,
        chroma_otel_collection_endpoint="",
        allow_reset=False,
        migrations="apply",
        is_persistent=True,
        persist_directory=str(folder),
    )
    return chromadb.PersistentClient(str(folder), settings=settings)

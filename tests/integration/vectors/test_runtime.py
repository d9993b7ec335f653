"""The running index: complete after every write whatever serves, and erased for good."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from service.domain.errors import InvalidInput
from service.ports.index import IndexKey
from service.ports.storage import Scope
from service.usecases.reconcile import OnModelChange

SCOPE = Scope("acme", "key_1")


def names(count: int, start: int = 0) -> list[str]:
    return [f"n{i}" for i in range(start, start + count)]


def folders(store) -> set[str]:
    return {p.name for p in (store.folder / "index").glob("gen-*")}


def test_a_user_with_few_facts_is_served_exactly_at_once(store):
    runtime = store.runtime(start=False)
    store.remember("alice", "tea", "rain")
    assert store.found(runtime, "alice", "tea")
    store.remember("alice", "sun")
    assert store.found(runtime, "alice", "sun")
    assert not store.found(runtime, "bob", "sun")
    assert (runtime.state().serving, runtime.state().lag) == ("exact", 3)


def test_a_user_who_becomes_large_moves_to_chroma_and_every_write_is_found_at_once(
    store, in_step, logs
):
    store.remember("alice", *names(30))
    runtime = store.runtime()
    assert in_step(runtime)
    assert all(store.found(runtime, "alice", name) for name in names(30))
    runtime.close()  # from here on nothing takes new vectors in
    reopened = store.runtime(poll_seconds=600.0)
    assert in_step(reopened)
    store.remember("alice", "later")
    assert store.found(reopened, "alice", "later")
    assert [e["reason"] for e in logs if e["event"] == "index rebuilt"] == ["no_index"]
    assert len(store.rebuilds()) == 1


def test_chroma_and_exact_give_the_same_scores_to_the_last_bit(store, in_step):
    store.remember("alice", *names(40))
    chroma, exact = store.runtime(), store.runtime(start=False)
    assert in_step(chroma)
    key, query = store.key("alice"), store.embedder.embed(["anything"])[0]
    ours, theirs = (
        store.database.read(SCOPE, lambda tx, r=runtime: r.search(tx, key, query, 10))
        for runtime in (chroma, exact)
    )
    assert ours == theirs


def test_another_tenants_key_is_refused(store):
    runtime = store.runtime(start=False)
    with pytest.raises(InvalidInput):
        store.database.read(
            SCOPE,
            lambda tx: runtime.search(tx, IndexKey("other", "sub_1"), np.ones(16), 1),
        )


def test_erased_vectors_are_on_no_disk_and_a_rebuild_does_not_bring_them_back(store, in_step):
    store.remember("alice", *names(30))
    runtime = store.runtime()
    assert in_step(runtime)
    before = folders(store)
    store.erase("n3", "n4")
    assert not store.found(runtime, "alice", "n3")
    assert runtime.purge()
    assert not folders(store) & before
    assert len(folders(store)) == 1
    assert b"mem_n3" not in b"".join(
        p.read_bytes() for p in (store.folder / "index").rglob("*") if p.is_file()
    )
    runtime.reindex()
    assert not store.found(runtime, "alice", "n3")
    assert store.found(runtime, "alice", "n5")
    assert runtime.state().vectors == 28


def test_erasing_everything_leaves_no_folder(store, in_step):
    store.remember("alice", *names(25))
    runtime = store.runtime()
    assert in_step(runtime)
    store.erase(*names(25))
    runtime.purge()
    assert folders(store) == set()
    assert runtime.state().serving == "exact"


def test_memories_without_a_vector_get_one(store, in_step):
    store.remember("alice", *names(3), embedded=False)
    runtime = store.runtime()
    assert in_step(runtime, "exact")
    assert store.found(runtime, "alice", "n2")
    store.remember("alice", "n3", embedded=False)
    assert in_step(runtime, "exact")
    assert store.found(runtime, "alice", "n3")


def test_another_model_embeds_again_in_the_background_and_rebuilds(store, in_step, logs):
    store.remember("alice", *names(30))
    first = store.runtime()
    assert in_step(first)
    first.close()
    store.embedder = type(store.embedder)("b", dimensions=24)
    second = store.runtime()
    assert in_step(second)
    assert all(store.found(second, "alice", name) for name in names(30))
    assert [e["reason"] for e in logs if e["event"] == "index rebuilt"][1:] == ["model_changed"]


def test_a_refused_model_makes_the_service_not_ready(store, eventually):
    store.remember("alice", "tea")
    store.embedder = type(store.embedder)("b")
    runtime = store.runtime(on_model_change=OnModelChange.REFUSE)
    assert eventually(lambda: not runtime.probe().ok)
    assert "ON_MODEL_CHANGE=reembed" in runtime.probe().detail


def test_a_small_store_never_imports_chroma():
    code = "import sys, service.adapters.vectors.runtime; sys.exit('chromadb' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_chroma_needs_no_home_and_no_network(tmp_path: Path):
    code = (
        "import socket, sys, pathlib, numpy as np\n"
        "def refuse(*a, **k): sys.exit('network')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
        "from service.adapters.vectors.chroma import ChromaIndex\n"
        "from service.ports.index import IndexKey\n"
        "index = ChromaIndex(pathlib.Path(sys.argv[1]) / 'index')\n"
        "index.put(IndexKey('t', 's'), ['m'], np.eye(3, dtype=np.float32)[:1])\n"
        "assert index.search(IndexKey('t', 's'), np.eye(3, dtype=np.float32)[0], 1)\n"
        "index.close()\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / ".env").write_text("CHROMA_API_IMPL=chromadb.api.fastapi.FastAPI\n")
    environment = {"HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)],
        cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    assert ran.returncode == 0
    assert list(home.iterdir()) == []

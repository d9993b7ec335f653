"""Vectors in SQL: kept per model, made again for another one, gone with their memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from service.domain.errors import Conflict, InvalidInput, NotFound, Unavailable
from service.domain.memory import MemoryStatus
from service.ports.storage import SYSTEM, Scope
from service.usecases.reconcile import (
    OnModelChange,
    embed_missing,
    large_users,
    refuse_other_models,
    store_embedding,
)

SCOPE = Scope("acme", "key_1")


def vectors(store, user="alice", embedder=None, after=0, scope=SCOPE):
    digest, key = (embedder or store.embedder).identity.digest, store.key(user)
    return store.database.read(
        scope, lambda tx: tx.embeddings.of_subject(key.subject_id, digest, after)
    )


def test_a_vector_comes_back_as_it_was_stored(store):
    store.remember("alice", "tea", "rain")
    stored = vectors(store)
    assert stored.ids == ("mem_tea", "mem_rain")
    assert np.array_equal(
        stored.matrix, store.embedder.embed(["The user likes tea", "The user likes rain"])
    )
    assert vectors(store, after=stored.position).ids == ()
    assert vectors(store, scope=Scope("other", "key_2")).ids == ()


def test_another_vector_for_a_memory_replaces_the_first_at_a_later_position(store):
    store.remember("alice", "tea", "rain")
    before, other = vectors(store), store.embedder.embed(["other"])[0]
    digest, key = store.embedder.identity.digest, store.key("alice")
    store.database.write(
        SCOPE, lambda tx: tx.embeddings.put("mem_tea", key.subject_id, digest, other)
    )
    newer = vectors(store, after=before.position)
    assert newer.ids == ("mem_tea",)
    assert vectors(store).ids == ("mem_rain", "mem_tea")


@pytest.mark.parametrize("memory_id", ["mem_tea", "mem_gone"])
def test_a_first_vector_is_refused_beside_another_and_without_its_memory(store, memory_id):
    store.remember("alice", "tea")
    before, row = vectors(store), store.embedder.embed(["x"])[0]
    digest, key = store.embedder.identity.digest, store.key("alice")
    with pytest.raises(Conflict):
        store.database.write(
            SCOPE, lambda tx: tx.embeddings.add(memory_id, key.subject_id, digest, row)
        )
    after = vectors(store)
    assert after.ids == before.ids == ("mem_tea",)
    assert np.array_equal(after.matrix, before.matrix)


def test_a_vector_needs_its_memory_and_the_memorys_user(store):
    store.remember("alice", "tea")
    row, digest = store.embedder.embed(["x"])[0], store.embedder.identity.digest
    bob = store.key("bob").subject_id
    assert not store.database.write(
        SCOPE, lambda tx: tx.embeddings.put("mem_tea", bob, digest, row)
    )
    memory = store.database.read(
        SCOPE, lambda tx: tx.memories.get(store.key("alice").subject_id, "mem_tea")
    )
    with pytest.raises(NotFound):
        store.database.write(
            SCOPE, lambda tx: store_embedding(tx, replace(memory, id="mem_none"), row, digest)
        )


@pytest.mark.parametrize("wrong", [np.zeros(4), np.ones(4), np.full(4, np.nan), np.eye(2)])
def test_what_is_no_unit_vector_is_refused(store, wrong):
    store.remember("alice", "tea")
    key = store.key("alice")
    with pytest.raises(InvalidInput):
        store.database.write(
            SCOPE, lambda tx: tx.embeddings.put("mem_tea", key.subject_id, "d", wrong)
        )


def test_vectors_go_with_their_memory(store):
    store.remember("alice", "tea", "rain")
    store.erase("tea")
    assert vectors(store).ids == ("mem_rain",)


def test_another_model_never_meets_the_old_vectors_and_embeds_retired_memories_too(store):
    store.remember("alice", "tea", "rain")
    alice = store.key("alice").subject_id

    def retire(tx) -> None:
        memory = tx.memories.get(alice, "mem_rain")
        tx.memories.update(replace(memory, status=MemoryStatus.SUPERSEDED))

    store.database.write(SCOPE, retire)
    other = type(store.embedder)("b", dimensions=24)
    assert vectors(store, embedder=other).ids == ()
    assert embed_missing(store.database, other, "acme") == 2
    assert embed_missing(store.database, other, "acme") == 0
    assert vectors(store, embedder=other).matrix.shape == (2, 24)
    assert vectors(store).ids == ()


def test_a_changed_model_can_be_refused_with_a_message_that_says_what_to_do(store):
    store.remember("alice", "tea")
    refuse_other_models(store.database, store.embedder.identity.digest, OnModelChange.REFUSE)
    refuse_other_models(store.database, "sha256:other", OnModelChange.REEMBED)
    with pytest.raises(Unavailable, match="ON_MODEL_CHANGE=reembed"):
        refuse_other_models(store.database, "sha256:other", OnModelChange.REFUSE)


def test_what_the_thread_asks_across_tenants(store):
    store.remember("alice", "tea", "rain")
    store.remember("bob", "sun", embedded=False)
    waiting = store.database.read(SYSTEM, lambda tx: tx.embeddings.waiting())
    assert waiting == {"acme": 3}
    assert store.database.read(SYSTEM, lambda tx: tx.embeddings.tenants()) == ["acme"]
    digest = store.embedder.identity.digest
    assert large_users(store.database, digest, 2) == {store.key("alice"): 2}
    lacking = store.database.read(SCOPE, lambda tx: tx.embeddings.missing(digest, 9))
    assert [m.memory_id for m in lacking] == ["mem_sun"]
    among = ["mem_tea", "mem_sun", "mem_none"]
    asked = store.database.read(SCOPE, lambda tx: tx.embeddings.missing(digest, 9, among))
    assert [m.memory_id for m in asked] == ["mem_sun"]
    owners = store.database.read(SCOPE, lambda tx: tx.embeddings.owners(among))
    assert set(owners) == {"mem_tea", "mem_sun"}

"""What every vector index does, and that Chroma finds what the exact one finds."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.adapters.vectors.chroma import ChromaIndex
from service.adapters.vectors.exact import ExactIndex
from service.domain.errors import GroundkeeperError
from service.ports.index import IndexKey

ALICE, BOB = IndexKey("acme", "sub_alice"), IndexKey("acme", "sub_bob")
FOREIGN = IndexKey("other", "sub_alice")


def unit(*rows: list[float]) -> np.ndarray:
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


EAST, NORTH, BETWEEN = unit([1, 0, 0], [0, 1, 0], [1, 1, 0])


@pytest.fixture(params=["exact", "chroma"])
def index(request, tmp_path: Path):
    made = ExactIndex() if request.param == "exact" else ChromaIndex(tmp_path)
    yield made
    made.close()


def found(index, key=ALICE, query=EAST, limit=10) -> list[str]:
    return [hit.memory_id for hit in index.search(key, query, limit)]


def test_the_nearest_come_first_with_their_cosines(index):
    index.put(ALICE, ["north", "east", "between"], np.stack([NORTH, EAST, BETWEEN]))
    hits = index.search(ALICE, EAST, 10)
    assert [h.memory_id for h in hits] == ["east", "between", "north"]
    assert [h.cosine for h in hits] == pytest.approx([1, 2**-0.5, 0], abs=1e-6)


def test_no_more_than_the_limit(index):
    index.put(ALICE, ["north", "east", "between"], np.stack([NORTH, EAST, BETWEEN]))
    assert found(index, limit=2) == ["east", "between"]
    assert found(index, limit=0) == []


def test_users_and_tenants_are_apart(index):
    index.put(ALICE, ["mine"], EAST[None])
    index.put(BOB, ["his"], EAST[None])
    assert (found(index), found(index, BOB), found(index, FOREIGN)) == (["mine"], ["his"], [])
    assert index.count() == 2


def test_putting_again_replaces(index):
    index.put(ALICE, ["one", "two"], np.stack([EAST, NORTH]))
    index.put(ALICE, ["one", "two"], np.stack([EAST, NORTH]))
    assert index.count() == 2
    index.put(ALICE, ["one"], NORTH[None])
    assert index.search(ALICE, EAST, 1)[0].cosine == pytest.approx(0, abs=1e-6)


def test_what_was_removed_is_not_found(index):
    index.put(ALICE, ["one", "two", "three"], np.stack([EAST, NORTH, BETWEEN]))
    index.remove(ALICE, ["one", "unknown"])
    index.remove(BOB, ["two"])
    index.remove(ALICE, [])
    assert found(index) == ["three", "two"]
    assert index.count() == 2


def test_the_same_id_after_its_removal_has_the_new_vector_only(index):
    index.put(ALICE, ["one"], EAST[None])
    index.remove(ALICE, ["one"])
    index.put(ALICE, ["one"], NORTH[None])
    assert index.search(ALICE, NORTH, 5)[0].cosine == pytest.approx(1, abs=1e-6)
    assert index.count() == 1


def test_nothing_to_put_changes_nothing(index):
    index.put(ALICE, [], np.empty((0, 3), dtype=np.float32))
    assert (index.count(), found(index)) == (0, [])


def test_another_size_is_refused(index):
    index.put(ALICE, ["one"], EAST[None])
    with pytest.raises(GroundkeeperError):
        index.put(ALICE, ["two"], unit([1, 0]))
    with pytest.raises(GroundkeeperError):
        index.search(ALICE, unit([1, 0])[0], 1)
    assert found(index) == ["one"]


ids = st.integers(0, 11).map("mem_{}".format)
steps = st.lists(
    st.tuples(st.sampled_from(["put", "remove"]), st.sampled_from([ALICE, BOB, FOREIGN]), ids),
    min_size=1,
    max_size=30,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=steps, seed=st.integers(0, 2**16))
def test_chroma_answers_as_the_exact_index(steps, seed):
    chance = np.random.default_rng(seed)
    with TemporaryDirectory() as folder:
        exact, chroma = ExactIndex(), ChromaIndex(Path(folder))
        for action, key, memory_id in steps:
            vector = unit(chance.normal(size=16))
            for index in (exact, chroma):
                if action == "put":
                    index.put(key, [memory_id], vector)
                else:
                    index.remove(key, [memory_id])
        query = unit(chance.normal(size=16))[0]
        for key in (ALICE, BOB, FOREIGN):
            ours, theirs = exact.search(key, query, 5), chroma.search(key, query, 5)
            assert [h.cosine for h in theirs] == pytest.approx([h.cosine for h in ours], abs=1e-5)
            assert {h.memory_id for h in theirs} == {h.memory_id for h in ours}
        assert exact.count() == chroma.count()
        chroma.close()

"""Vectors in memory that were taken over are those that were copied."""

import numpy as np
import pytest

from service.adapters.vectors.matrix import Matrix

NAMES = [f"mem_{n}" for n in range(40)]


@pytest.fixture
def vectors():
    found = np.random.default_rng(3).normal(size=(40, 8)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_taken_over_or_copied_is_the_same(vectors):
    copied, query = Matrix(), vectors[7].copy()
    copied.put(NAMES[:30], vectors[:30])
    taken = Matrix.over(NAMES[:30], vectors[:30].copy())
    assert taken.search(query, 12) == copied.search(query, 12)
    for matrix in (copied, taken):
        matrix.remove(["mem_3", "mem_29", "mem_unknown"])
        for n in range(30, 40):  # one by one, so that it has to grow
            matrix.put([NAMES[n]], vectors[n : n + 1])
        matrix.put(["mem_5"], vectors[6:7])
    assert len(taken) == len(copied) == 38
    assert taken.search(query, 38) == copied.search(query, 38)
    assert "mem_3" not in taken
    assert taken.size < 2 * vectors.nbytes

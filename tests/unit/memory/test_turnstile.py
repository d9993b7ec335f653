"""Deciding again when the ground moved."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.errors import Conflict
from service.usecases.turnstile import Changed, Turnstile


def test_a_decision_that_holds_is_made_once():
    assert Turnstile().run("t", "u", lambda: 5) == 5


def test_it_gives_up_in_the_end():
    tries = []

    def attempt():
        tries.append(1)
        raise Changed

    with pytest.raises(Conflict):
        Turnstile().run("t", "u", attempt)
    assert len(tries) == 6


def test_of_many_at_once_each_gets_its_turn():
    turnstile, guard, start = Turnstile(), threading.Lock(), threading.Barrier(16)
    version = [0]

    def write():
        first = [True]

        def attempt():
            seen = version[0]
            if first.pop() if first else False:
                start.wait()
            with guard:
                if version[0] != seen:
                    raise Changed
                version[0] += 1

        turnstile.run("t", "u", attempt)

    with ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(write) for _ in range(16)]:
            done.result()
    assert version == [16]

"""Threads share heaps, so that what they free is used again."""

import ctypes
import os
import subprocess
import sys

import pytest

SHARING = "from service.adapters.allocator import share_heaps; print(share_heaps())"
WORK = """
import ctypes, threading
start = threading.Barrier(8)
def work():
    start.wait()
    kept = [bytearray(4_000) for _ in range(200)]
    start.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
ctypes.CDLL(None).malloc_stats()
"""
pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="needs glibc"
)


def run(code: str, **chosen: str) -> tuple[str, int]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr.count("Arena ")


def test_threads_share_two_heaps():
    assert run(WORK)[1] > 2
    assert run(SHARING + WORK) == ("True", 2)


def test_what_the_operator_chose_stays():
    said, heaps = run(SHARING + WORK, MALLOC_ARENA_MAX="4")
    assert said == "False"
    assert 2 < heaps <= 4

"""Threads share heaps, and what they free is used again."""

import ctypes
import os
import re
import subprocess
import sys

import pytest

TUNING = "from service.adapters.allocator import tune_heaps; print(*tune_heaps())\n"
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
blocks = [bytearray(1_500_000) for _ in range(20)]
ctypes.CDLL(None).malloc_stats()
"""
ALL = ["MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"]
BLOCKS = 19  # the first may find room
pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="needs glibc"
)


def run(code: str, **chosen: str) -> tuple[list[str], int, int]:
    """Return what was set, how many heaps there were, and how many blocks of the system's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    blocks = re.search(r"max mmap regions\s*=\s*(\d+)", done.stderr)
    assert blocks
    return done.stdout.split(), done.stderr.count("Arena "), int(blocks[1])


def test_threads_share_two_heaps_and_keep_blocks():
    _, heaps, blocks = run(WORK)
    assert heaps > 2
    assert blocks >= BLOCKS
    said, heaps, blocks = run(TUNING + WORK)
    assert (said, heaps) == (ALL, 2)
    assert blocks < BLOCKS


def test_what_the_operator_chose_stays():
    said, heaps, blocks = run(TUNING + WORK, MALLOC_ARENA_MAX="4", MALLOC_MMAP_THRESHOLD_="1000000")
    assert said == ALL[2:]
    assert 2 < heaps <= 4
    assert blocks >= BLOCKS

"""The index files hold nothing of what this process had in its memory before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from service.adapters.vectors.chroma import overwrite_freed_memory

CHILD = """
import sys, threading
from pathlib import Path
import numpy as np
from service.adapters.vectors import chroma
from service.ports.index import IndexKey

if sys.argv[2] == "overwritten":
    chroma.overwrite_freed_memory()

large = [bytearray(3_300_000) for _ in range(3)]  # from now on, so much comes from the heap
del large
fences = []

def use_memory():
    used = []
    for i in range(400):
        used.append(bytearray(b"a text of somebody " * (i * 97 % 18_000)))
        fences.append(bytearray(b"f" * 600))

def in_threads():  # their part of the heap goes to threads of Chroma afterwards
    threads = [threading.Thread(target=use_memory) for _ in range(24)]
    [t.start() for t in threads], [t.join() for t in threads]

in_threads()
index = chroma.ChromaIndex(Path(sys.argv[1]))
vectors = np.eye(3, 384, dtype=np.float32)
for user in range(2):
    in_threads()
    index.put(IndexKey("acme", f"sub_{user}"), ["mem_1", "mem_2", "mem_3"], vectors)
index.close()
files = [p for p in Path(sys.argv[1]).rglob("*") if p.is_file()]
print(len(files) > 4, sum(p.read_bytes().count(b"a text of somebody") for p in files) > 0)
"""


def child(folder, how: str) -> str:
    command = [sys.executable, "-c", CHILD, str(folder), how]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


@pytest.mark.skipif(not overwrite_freed_memory(), reason="the C library cannot do it")
def test_freed_memory_does_not_reach_the_disk(tmp_path):
    assert child(tmp_path, "overwritten") == "True False"


@pytest.mark.slow
@pytest.mark.skipif(not overwrite_freed_memory(), reason="the C library cannot do it")
def test_without_care_it_does(tmp_path):
    """If this fails, Chroma has been fixed, and the care can go."""
    assert child(tmp_path, "as it comes") == "True True"

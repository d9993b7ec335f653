"""A folder that is gone, damaged or was left open: everything is found, and the log says why."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def names(count: int) -> list[str]:
    return [f"n{i}" for i in range(count)]


def serving_folder(store) -> Path:
    return store.folder / "index" / (store.folder / "index" / "CURRENT").read_text().strip()


def reasons(logs) -> list[str]:
    return [e["reason"] for e in logs if e["event"] == "index rebuilt"]


@pytest.fixture
def runtime(store, in_step):
    store.remember("alice", *names(30))
    made = store.runtime()
    assert in_step(made)
    return made


def test_the_folder_is_deleted_while_it_serves(store, runtime, in_step, eventually, logs):
    old = serving_folder(store)
    shutil.rmtree(old)
    assert all(store.found(runtime, "alice", name) for name in names(30))
    assert eventually(lambda: reasons(logs) and in_step(runtime))
    assert reasons(logs) == ["the folder of the index is gone or was replaced"]
    assert serving_folder(store) != old
    assert all(store.found(runtime, "alice", name) for name in names(30))


@pytest.mark.parametrize("damage", ["garbage", "truncated", "no pointer", "all gone"])
def test_the_folder_is_damaged_while_nothing_runs(store, runtime, in_step, logs, damage):
    runtime.close()
    file = serving_folder(store) / "chroma.sqlite3"
    if damage == "garbage":
        file.write_bytes(b"garbage " * 4096)
    elif damage == "truncated":
        os.truncate(file, file.stat().st_size // 2)
    elif damage == "no pointer":
        (store.folder / "index" / "CURRENT").write_bytes(b"\xff../../etc\n")
    else:
        shutil.rmtree(store.folder / "index")
    again = store.runtime()
    assert in_step(again)
    assert len(reasons(logs)) == 1
    assert all(store.found(again, "alice", name) for name in names(30))
    assert [p.name for p in (store.folder / "index").glob("gen-*")] == [serving_folder(store).name]


def test_vectors_that_chroma_lost_are_noticed(store, runtime, in_step, logs):
    serving = runtime._keeper.serving
    key = store.key("alice")
    serving._index.remove(key, ["mem_n7"])
    runtime._due = 0.0
    runtime.wake()
    deadline = time.monotonic() + 20
    while not reasons(logs) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert in_step(runtime)
    assert reasons(logs) == ["ids_differ"]
    assert store.found(runtime, "alice", "n7")


_WRITES = """
import structlog, sys
from pathlib import Path
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
sys.path.insert(0, sys.argv[2])
from conftest import Store
store = Store(Path(sys.argv[1]))
store.runtime()
for start in range(0, 100_000, 25):
    store.remember("alice", *[f"n{i}" for i in range(start, start + 25)])
    print(start + 25, flush=True)
"""


@pytest.mark.slow
def test_a_killed_process_loses_nothing_that_it_answered(store, in_step, logs):
    folder = store.folder
    store.close()
    here = Path(__file__).parent
    with subprocess.Popen(
        [sys.executable, "-c", _WRITES, str(folder), str(here)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(here.parents[2])},
    ) as process:
        answered = 0
        while answered < 200:
            answered = int(process.stdout.readline())
        while not (folder / "index" / "CURRENT").exists():
            answered = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
    answered = max([answered, *map(int, rest)])
    again = type(store)(folder)
    try:
        runtime = again.runtime()
        assert all(again.found(runtime, "alice", f"n{i}") for i in range(0, answered, 7))
        assert in_step(runtime)
        assert all(again.found(runtime, "alice", f"n{i}") for i in range(0, answered, 3))
        assert reasons(logs) == ["not_closed_properly"]
    finally:
        again.close()

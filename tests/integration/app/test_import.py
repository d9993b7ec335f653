"""Importing the service does nothing."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import os, sqlite3, sys, threading, tempfile
before = threading.active_count()
opened = []
sys.addaudithook(lambda name, args: opened.append((name, str(args))) if name in (
    "socket.connect", "sqlite3.connect") or (name == "open" and isinstance(args[1], str)
    and ("w" in args[1] or "a" in args[1]) and "__pycache__" not in str(args[0])) else None)
import service.bootstrap, service.cli, service.http.app
assert threading.active_count() == before, threading.enumerate()
writes = [o for o in opened if "/dev/null" not in o[1]]
assert not writes, writes
assert "spacy" not in sys.modules
assert os.listdir() == []
"""


def test_import_connects_writes_and_starts_nothing(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

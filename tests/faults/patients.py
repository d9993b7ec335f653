"""Processes whose disk fails, and the switch that makes it fail."""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import IntEnum
from pathlib import Path

from tests.faults.deeds import Answer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPILER = shutil.which("cc")
_FORMAT = struct.Struct("5i")


class Call(IntEnum):
    """The calls that can fail, as in ``shim.c``."""

    NONE = 0
    WRITING = 1
    FLUSHING = 2
    READING = 3


def compile_shim(folder: Path, name: str = "shim") -> Path:
    """Compile a library to preload; needs a C compiler."""
    made = folder / f"{name}.so"
    command = [COMPILER, "-shared", "-fPIC", "-O1", "-o", made, HERE / f"{name}.c", "-ldl"]
    subprocess.run(command, check=True)
    return made


KILLED = -1
"""Stands for an errno: the process dies at the call."""


class Switch:
    """Makes system calls on one file (and what lies beside it) fail in a preloaded process."""

    def __init__(self, shim: Path, folder: Path, file: str) -> None:
        control = folder / "control"
        control.write_bytes(bytes(_FORMAT.size))
        with control.open("r+b") as handle:
            self._map = mmap.mmap(handle.fileno(), _FORMAT.size)
        self.environment = {
            "LD_PRELOAD": str(shim),
            "FAULT_CONTROL": str(control),
            "FAULT_FILE": file,
        }

    def fail(
        self,
        call: Call,
        *,
        after: int = 0,
        times: int = -1,
        error: int = errno.EIO,
        really: bool = False,
    ) -> None:
        """Let ``after`` more calls succeed and ``times`` fail; ``really``: once carried out."""
        self._map[:] = _FORMAT.pack(Call.NONE, after, times, error, really)
        self._map[: struct.calcsize("i")] = struct.pack("i", call)

    def failed(self) -> bool:
        """Whether all the failures that were ordered have happened."""
        _, after, times, _, _ = _FORMAT.unpack(self._map[:])
        return after == 0 and times <= 0

    def heal(self) -> None:
        """Let everything succeed again."""
        self.fail(Call.NONE, times=0)


class Patient:
    """A process of the storage layer that does what it is told and survives its disk."""

    def __init__(
        self, path: Path, switch: Switch | None = None, wrapper: Sequence[str] = ()
    ) -> None:
        program = [sys.executable, str(HERE / "children" / "sufferer.py"), str(path)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [*wrapper, *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment | (switch.environment if switch else {}),
        )
        self.acknowledged: dict[str, Answer] = {}
        first = self._process.stdout.readline()
        self.refused = None if first == "ready\n" else self._process.communicate()[1]

    def remember(self, key: str, size: int = 20) -> Answer | str:
        """Write a text of ``size`` characters; return the answer, or the class of the error."""
        found = self.tell("remember", key, "x" * size)
        if "error" in found:
            return found["error"]
        self.acknowledged[key] = Answer(**found["ok"])
        return self.acknowledged[key]

    def audit(self) -> int:
        """Check every book; return how many entries there are."""
        return self.tell("audit", {k: asdict(told) for k, told in self.acknowledged.items()})["ok"]

    def tell(self, command: str, *arguments: object) -> dict:
        """Give a command and return its answer."""
        self._process.stdin.write(f"{json.dumps([command, arguments])}\n")
        self._process.stdin.flush()
        return json.loads(self._hear())

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.communicate()

    def _hear(self) -> str:
        line = self._process.stdout.readline()
        assert line, f"the process ended: {self._process.communicate()[1]}"
        return line

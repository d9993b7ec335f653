"""Plan an erasure, confirm it, and die at one of the writes that this takes.

A line is ``<database> TAB <number of the write>``; ``FAULT_CONTROL`` is what ``shim.c`` listens to.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from tests.faults.children.forks import fork_for_each_line
from tests.faults.deeds import SCOPE, open_log
from tests.faults.erasures import plan, services_on
from tests.faults.patients import KILLED, Call


def live(path: str, wanted: str) -> None:
    """Erase, or die on the way."""
    database = open_log(Path(path))
    services = services_on(database, Path(path))
    planned = plan(services)
    die_at(int(wanted))
    services.confirm.run(SCOPE, planned, allow_collateral=True)
    disarm()
    database.close()


def die_at(write: int) -> None:
    """Let so many writes succeed, and the next one be the last thing that happens."""
    _tell(Call.WRITING, write, 1, KILLED, 0)


def disarm() -> None:
    """Let everything succeed."""
    _tell(Call.NONE, 0, 0, 0, 0)


def _tell(*values: int) -> None:
    with Path(os.environ["FAULT_CONTROL"]).open("r+b") as control:
        control.write(struct.pack("5i", *values))


if __name__ == "__main__":
    fork_for_each_line(live)

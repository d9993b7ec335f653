"""Open databases, and die in front of a given SQL statement, if there are so many.

A line is ``<database> TAB <number of the statement>``.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from sqlalchemy import Engine, event

from tests.faults.children.forks import fork_for_each_line
from tests.faults.deeds import open_log


def die_at(wanted: int) -> None:
    """Kill this process in front of its statement number ``wanted``."""
    seen = 0

    def count(*_arguments: object) -> None:
        nonlocal seen
        if seen == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

    event.listen(Engine, "before_cursor_execute", count)


def live(path: str, wanted: str) -> None:
    """Open and close a database, or die."""
    die_at(int(wanted))
    open_log(Path(path)).close()


if __name__ == "__main__":
    fork_for_each_line(live)

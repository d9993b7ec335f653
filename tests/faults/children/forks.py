"""One forked process for every line of standard input, so that imports are paid for once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def fork_for_each_line(live: Callable[..., None]) -> None:
    """Call ``live`` with the parts of a line in a process of its own, one after the other.

    The parts are separated by tabs. The process id is printed at the start, the wait status at the
    end; it is 0 if ``live`` returned.
    """
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                live(*line.rstrip("\n").split("\t"))
                status = 0
            finally:
                os._exit(status)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)

"""Build the whole service in an empty folder, and die at one of the writes that this takes.

A line is ``<folder> TAB <number of the write>``; ``FAULT_CONTROL`` is what ``shim.c`` listens to.
"""

from __future__ import annotations

from pathlib import Path

from service import bootstrap
from tests.faults.children.erasing import die_at, disarm
from tests.faults.children.forks import fork_for_each_line
from tests.faults.starts import bare_parts, settings_in


def live(folder: str, wanted: str) -> None:
    """Start and stop once, or die on the way."""
    settings = settings_in(Path(folder))
    bootstrap.start_logging(settings)
    die_at(int(wanted))
    bootstrap.build(settings, bare_parts()).close()
    disarm()


if __name__ == "__main__":
    fork_for_each_line(live)

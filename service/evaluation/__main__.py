"""``python -m service.evaluation``: measure the gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from service.domain.errors import GroundkeeperError
from service.evaluation.run import CASES, main


def run(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and evaluate; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m service.evaluation", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the public data sets")
    parser.add_argument("--cases", type=Path, default=CASES, help="folder with the case files")
    parser.add_argument("--out", type=Path, help="Markdown file, or a folder for one")
    parser.add_argument("--full", action="store_true", help="larger samples")
    given = parser.parse_args(arguments)
    try:
        return main(given.data, given.cases, given.out, given.full)
    except GroundkeeperError as error:
        parser.exit(2, f"{error}\n")


if __name__ == "__main__":
    sys.exit(run())

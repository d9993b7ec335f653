"""A process that does as it is told, one JSON line at a time, while its disk fails.

Usage: sufferer.py DATABASE. Each line is ``[command, arguments]``; each answer is ``{"ok": …}`` or
``{"error": name of the class, "detail": …}``. Only errors of the domain are answered: anything else
ends the process. If the database cannot be opened, the reason goes to standard error.
"""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from service.domain.errors import GroundkeeperError
from tests.faults.books import audit
from tests.faults.deeds import Answer, open_log, remember


class Sufferer:
    """What the process can be told."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = open_log(path)

    def remember(self, key: str, text: str) -> dict[str, Any]:
        """Write once per key."""
        return asdict(remember(self._database, key, text))

    def audit(self, acknowledged: dict[str, dict[str, Any]]) -> int:
        """Check every book; return how many entries there are."""
        return audit(self._path, {k: Answer(**told) for k, told in acknowledged.items()}).total

    def limit(self, size: int) -> None:
        """Let no file grow beyond so many bytes; 0 is no limit."""
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size or hard, hard))

    def ballast(self, size: int) -> None:
        """Fill this much of the disk with a file beside the database; 0 takes it away."""
        file = self._path.with_name("ballast")
        file.unlink(missing_ok=True)
        file.write_bytes(bytes(size))

    def reopen(self) -> None:
        """Close the database and open it again."""
        self._database.close()
        self._database = open_log(self._path)


def main() -> None:
    """Answer every line."""
    try:
        sufferer = Sufferer(Path(sys.argv[1]))
    except GroundkeeperError as error:
        sys.exit(str(error))
    print("ready", flush=True)
    for line in sys.stdin:
        command, arguments = json.loads(line)
        try:
            answer = {"ok": getattr(sufferer, command)(*arguments)}
        except GroundkeeperError as error:
            answer = {"error": type(error).__name__, "detail": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""Threads that write until they are killed. A line is ``<database> TAB <file>``.

Each answer is appended to the file once ``write`` has returned: what is in it was acknowledged.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
from dataclasses import asdict
from pathlib import Path

from tests.faults.children.forks import fork_for_each_line
from tests.faults.deeds import open_log, remember

THREADS = 4


def live(path: str, answers: str) -> None:
    """Write until somebody kills this process."""
    said = os.open(answers, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    database = open_log(Path(path))

    def write() -> None:
        while True:
            key = uuid.uuid4().hex
            told = remember(database, key)
            os.write(said, f"{json.dumps({'key': key, **asdict(told)})}\n".encode())

    threads = [threading.Thread(target=write) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    fork_for_each_line(live)

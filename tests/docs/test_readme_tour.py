"""The README's tour, run as it stands against a live server, prints what the README says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "--- next ---"


def blocks(text: str) -> list[tuple[str, str]]:
    """Return (kind, content) of the tour's blocks, in order."""
    tour = text[text.index("## A tour in five minutes") : text.index("## What it decides")]
    return [(m.group(1), m.group(2)) for m in _BLOCK.finditer(tour)]


def run(commands: list[str], url: str) -> list[str]:
    """Run the blocks in one shell, as a reader would; return what each printed."""
    script = f"\necho '{_MARK}'\n".join(commands).replace("http://127.0.0.1:8000", url)
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return [part.strip("\n") for part in f"{done.stdout}\n".split(f"{_MARK}\n")]


def test_the_tour_prints_what_it_says(start_server):
    live = start_server()
    live.wait()
    found = blocks(README.read_text("utf-8"))
    commands = [content for kind, content in found if kind == "sh"]
    expected = [content.strip("\n") for kind, content in found if kind == "text"]

    assert run(commands, live.url)[1:] == expected

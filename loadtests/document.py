"""Rewrites the measured part of ``docs/performance.md`` from the results.

Usage: python loadtests/document.py [--check]

Only what stands between the two markers changes. ``--check`` writes nothing, and exits with 1 if
the document is not what the results say.
"""

from __future__ import annotations

import re
import sys

import report

DOCUMENT = report.ROOT.parent / "docs" / "performance.md"
BEGIN = "<!-- generated: start -->"
END = "<!-- generated: end -->"
PARTS = {
    "bench": "Side by side",
    "load": "Load",
    "growth": "Growth",
    "soak": "Soak",
    "footprint": "Start and memory",
}


def main(arguments: list[str]) -> int:
    """Write or check the document."""
    old = DOCUMENT.read_text(encoding="utf-8")
    new = replaced(old)
    if "--check" in arguments:
        return int(new != old)
    DOCUMENT.write_text(new, encoding="utf-8")
    return 0


def replaced(text: str) -> str:
    """Return the document with the measured part of today."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{DOCUMENT.name} has lost its markers")
    return "".join((before, BEGIN, "\n\n", measured(), "\n\n", END, after))


def measured() -> str:
    return "\n\n".join(part(name, title) for name, title in PARTS.items())


def part(name: str, title: str) -> str:
    """One result under a heading of its own, or that there is none."""
    path = report.RESULTS / f"{name}.md"
    if not path.exists():
        return f"## {title}\n\nNot measured yet: `make {name}`."
    body = path.read_text(encoding="utf-8").strip()
    body = re.sub(r"\A# .*\n+", "", body)
    body = re.sub(r"^## ", "### ", body, flags=re.MULTILINE)
    picture = report.RESULTS / f"{name}.png"
    shown = [f"![{title}](../loadtests/results/{name}.png)"] if picture.exists() else []
    return "\n\n".join([f"## {title}", body, *shown])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

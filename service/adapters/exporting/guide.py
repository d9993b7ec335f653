"""``VERIFY.md``: how to check an export, with the script in it and by hand.

Its text is in ``standalone/VERIFY.md.txt``, in sections; a test runs the commands as they stand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TEMPLATE: Final = Path(__file__).parent / "standalone" / "VERIFY.md.txt"
_SECTION: Final = re.compile(r"^=== (\w+)\n", re.MULTILINE)
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class About:
    """What the guide has to know about a folder.

    ``signed`` is the size that the last checkpoint is about, and ``first`` to ``last`` are the
    lines of its text in ``checkpoints.txt``, from 1; all are ``None`` without a checkpoint.
    """

    origin: str
    entries: int
    whole: bool
    bodies: bool
    signed: int | None = None
    first: int | None = None
    last: int | None = None


def guide(about: About) -> str:
    """Return the guide for one folder, as Markdown."""
    given = {
        "kind": "The audit log" if about.whole else "A part of the audit log",
        "origin": about.origin,
        "entries": about.entries,
        "texts": "with the texts" if about.bodies else "without the texts",
        "signed": about.signed,
        "first": about.first,
        "last": about.last,
        "mark": None if about.last is None else about.last + 2,
    }
    found = _sections()
    text = "\n".join(found[name] for name in _chosen(about))
    return _PLACE.sub(lambda place: str(given[place[1]]), text)


def _chosen(about: About) -> list[str]:
    part = "" if about.whole else "_of_a_part"
    opening, limits = ["opening", f"format{part}"], [f"limits{part}"]
    if about.signed is None:
        return [*opening, "unsigned", *limits]
    tree = ["chain", "root"] if about.whole else []
    texts = ["texts"] if about.bodies else []
    return [*opening, f"script{part}", "by_hand", *tree, "signature", *texts, *limits]


def _sections() -> dict[str, str]:
    _, *parts = _SECTION.split(_TEMPLATE.read_text(encoding="utf-8"))
    return {name: f"{text.strip()}\n" for name, text in zip(parts[::2], parts[1::2], strict=True)}

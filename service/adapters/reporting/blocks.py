"""The parts that a report is made of; how each looks is up to HTML or Markdown.

All texts are raw: whoever renders them escapes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = str | int | float


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``alarm`` must not be overlooked."""

    text: str
    alarm: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption; numbers are aligned to the right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart by name, ``share`` or ``time``; where charts cannot be drawn there is the table."""

    name: str


@dataclass(frozen=True, slots=True)
class Details:
    """Labelled texts that belong together; those of strangers are marked as quotations."""

    title: str
    items: tuple[tuple[str, str, bool], ...]


Block: TypeAlias = Heading | Paragraph | Bullets | Table | Chart | Details

"""A report as Markdown (CommonMark with tables); the charts are left to the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from service.adapters.reporting.blocks import (
    Block,
    Bullets,
    Details,
    Heading,
    Paragraph,
    Table,
)
from service.adapters.reporting.document import document
from service.adapters.reporting.escaping import as_markdown
from service.usecases.report_model import LogReport

MEDIA_TYPE: Final = "text/markdown; charset=utf-8"


def render_markdown(report: LogReport) -> bytes:
    """Return the report as Markdown."""
    parts = [text for block in document(report) for text in _lines(block)]
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {as_markdown(block.text)}"
    elif isinstance(block, Paragraph):
        text = as_markdown(block.text)
        yield f"**{text}**" if block.alarm else text
    elif isinstance(block, Bullets):
        yield "\n".join(f"- {as_markdown(item)}" for item in block.items)
    elif isinstance(block, Table):
        yield f"**{as_markdown(block.caption)}**"
        yield _table(block)
    elif isinstance(block, Details):
        yield f"### {as_markdown(block.title)}"
        yield "\n".join(f"- **{label}:** {as_markdown(text)}" for label, text, _ in block.items)


def _table(table: Table) -> str:
    rule = f"| {' | '.join('---' for _ in table.head)} |"
    return "\n".join([_row(table.head), rule, *map(_row, _cells(table))])


def _cells(table: Table) -> Iterator[list[str]]:
    for row in table.rows:
        yield [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(as_markdown(cell) for cell in cells)} |"

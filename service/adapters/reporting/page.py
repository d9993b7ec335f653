"""A report as one HTML file: no script, nothing loaded, every text escaped.

The style sheet is the only thing that a content security policy has to allow; ``CSP`` does so by
its hash, and is in the file itself, too, for when it is opened from a disk.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from service.adapters.reporting.blocks import (
    Block,
    Bullets,
    Chart,
    Details,
    Heading,
    Paragraph,
    Table,
)
from service.adapters.reporting.charts import COLOURS, share_bar, time_bars
from service.adapters.reporting.document import document
from service.adapters.reporting.escaping import as_html
from service.usecases.report_model import LogReport

STYLE: Final = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
_HASH: Final = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
_META: Final = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
)
CSP: Final = f"{_META}; frame-ancestors 'none'"
MEDIA_TYPE: Final = "text/html; charset=utf-8"


def render_html(report: LogReport) -> bytes:
    """Return the report as a page."""
    title = as_html(f"Audit report: {report.tenant}")
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{as_html(_META)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><main>\n"
    )
    charts = {"share": share_bar(report.decisions) + _key(), "time": time_bars(report.timeline)}
    body = "\n".join(_elements(document(report), charts))
    return f"{head}{body}\n</main></body></html>\n".encode("utf-8", "replace")


def _elements(blocks: Iterable[Block], charts: dict[str, str]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Heading):
            yield f"<h{block.level}>{as_html(block.text)}</h{block.level}>"
        elif isinstance(block, Paragraph):
            role = ' class="alarm" role="alert"' if block.alarm else ""
            yield f"<p{role}>{as_html(block.text)}</p>"
        elif isinstance(block, Bullets):
            items = "".join(f"<li>{as_html(item)}</li>" for item in block.items)
            yield f"<ul>{items}</ul>"
        elif isinstance(block, Table):
            yield _table(block)
        elif isinstance(block, Chart):
            yield charts[block.name]
        elif isinstance(block, Details):
            yield _details(block)


def _table(table: Table) -> str:
    numeric = [
        all(_is_number(row[n]) for row in table.rows) and bool(table.rows)
        for n in range(len(table.head))
    ]
    head = "".join(
        f'<th scope="col"{_class(number)}>{as_html(name)}</th>'
        for name, number in zip(table.head, numeric, strict=True)
    )
    rows = "".join(_row(row, numeric) for row in table.rows)
    return (
        f"<table><caption>{as_html(table.caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(row: Iterable[object], numeric: Iterable[bool]) -> str:
    cells = [
        f"<td{_class(number)}><bdi>{as_html(_shown(cell))}</bdi></td>"
        for cell, number in zip(row, numeric, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _class(number: bool) -> str:
    return ' class="n"' if number else ""


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) or str(cell).endswith("%")


def _shown(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _details(block: Details) -> str:
    items = "".join(
        f"<dt>{as_html(label)}</dt><dd>{_text(text, quoted=quoted)}</dd>"
        for label, text, quoted in block.items
    )
    return f"<article><h3>{as_html(block.title)}</h3><dl>{items}</dl></article>"


def _text(text: str, *, quoted: bool) -> str:
    return f'<q><bdi dir="auto">{as_html(text)}</bdi></q>' if quoted else as_html(text)


def _key() -> str:
    items = "".join(
        f'<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" '
        f'fill="{colour}"/></svg>{as_html(outcome.value)}</li>'
        for outcome, colour in COLOURS.items()
    )
    return f'<ul class="key">{items}</ul>'

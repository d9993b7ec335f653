"""Reports as Markdown and on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from service.evaluation.sections import TALLY_HEADER, Section, Table, tally_row

START = "<!-- generated: start -->"
END = "<!-- generated: end -->"
FILE_NAME = "evaluation.md"
_HEADING = "# Evaluation"


def summary_table(sections: Sequence[Section]) -> Table:
    """Return the table at the top: every suite's figures."""
    rows = [(name, *tally_row(t)) for s in sections for name, t in s.summary.items()]
    return Table("Summary", ("suite", *TALLY_HEADER), rows)


def markdown(facts: Mapping[str, str], sections: Sequence[Section]) -> str:
    """Return a whole report."""
    blocks = ["\n".join(f"- {name}: {value}" for name, value in facts.items())]
    blocks.append(_markdown_table(summary_table(sections), "##"))
    for section in sections:
        blocks.append(f"## {section.title}")
        blocks += section.notes
        blocks += [_markdown_table(table, "###") for table in section.tables]
    return "\n\n".join(blocks)


def _markdown_table(table: Table, level: str) -> str:
    lines = [table.header, tuple("---" for _ in table.header), *table.rows]
    return f"{level} {table.title}\n\n" + "\n".join(
        f"| {' | '.join(map(_cell, x))} |" for x in lines
    )


def _cell(text: str) -> str:
    escaped = text.replace("\\", "\\\\")
    for mark in "|<>*_`[]":
        escaped = escaped.replace(mark, "\\" + mark)
    return " ".join(escaped.split())


def show(console: Console, table: Table) -> None:
    """Print one table."""
    printed = RichTable(*table.header, title=table.title, box=box.SIMPLE, title_justify="left")
    for row in table.rows:
        printed.add_row(*(Text(cell) for cell in row))
    console.print(printed)


def show_section(console: Console, section: Section) -> None:
    """Print what one suite found."""
    console.rule(section.title)
    for note in section.notes:
        console.print(Text(note))
    for table in section.tables:
        show(console, table)


def write(out: Path, report: str) -> Path:
    """Put a report between the markers of a file, or of a new one in a folder; return the file."""
    file = out if out.suffix == ".md" else out / FILE_NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text(encoding="utf-8") if file.exists() else f"{_HEADING}\n\n"
    file.write_text(insert(before, report), encoding="utf-8")
    return file


def insert(text: str, report: str) -> str:
    """Return a text with the report between its markers; they are added where they are missing."""
    block = f"{START}\n\n{report}\n\n{END}"
    head, start, rest = text.partition(START)
    if not start:
        return f"{text.rstrip()}\n\n{block}\n"
    _, end, tail = rest.partition(END)
    return f"{head}{block}{tail if end else chr(10)}"

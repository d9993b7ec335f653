"""``groundkeeper verify``: what was found, and what that does and does not mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from service import bootstrap
from service.adapters.verifying import Known, verify_database, verify_export
from service.audit.verify import Level, Report
from service.domain.errors import InvalidInput
from service.settings import load_settings

_GOOD, _BAD = 0, 1
_STATES = {True: "ok", False: "BAD", None: "not checked"}
_RANGES_SHOWN = 20
_MAX_FILE = 64 * 1024 * 1024


def verify(
    *,
    db: Annotated[
        Path | None, typer.Option(help="A database; by default the configured one.")
    ] = None,
    export: Annotated[Path | None, typer.Option(help="An exported folder.")] = None,
    key: Annotated[
        list[str] | None, typer.Option(help="A public key of the log, or a file with such keys.")
    ] = None,
    origin: Annotated[str | None, typer.Option(help="The name the log must have.")] = None,
    against: Annotated[
        list[Path] | None, typer.Option(help="A file with checkpoints that were kept elsewhere.")
    ] = None,
    text_keys: Annotated[
        Path | None, typer.Option(help="Folder with the keys that texts are encrypted under.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report.")] = False,
) -> int:
    """Verify the audit log without changing it; the service may be running.

    Exit 0 good, 1 tampered, 2 cannot decide, 3 used wrongly. Whether rewriting and truncation are
    excluded depends on --against: see what is printed at the end.
    """
    if db is not None and export is not None:
        raise InvalidInput("export", "give a database or an export, not both")
    known = Known(
        origin=origin,
        keys=tuple(line for text in key or () for line in _keys(text)),
        outside=tuple(map(_text, against or ())),
        text_keys=text_keys,
    )
    if export is not None:
        report = verify_export(export, known)
    elif db is not None:
        report = verify_database(db, known)
    else:
        report = bootstrap.verify_installation(load_settings(), known)
    if as_json:
        _say(json.dumps(asdict(report), indent=2, ensure_ascii=False))
    else:
        _print(report)
    return _GOOD if report.ok else _BAD


def _print(report: Report) -> None:
    _say(f"log {report.origin!r}" if report.origin else "log without a name")
    for level in report.levels:
        _print_level(level)
    _say(f"{report.verified} of {report.total} entries verified: {report.reason}")
    _print_numbers("broken_at, entries that were changed", report.broken_at)
    _print_numbers("compromised, untouched but after a change or a gap", report.compromised)
    _print_numbers("missing, the entry or its text is gone", report.missing)
    for statement in report.statements:
        _say(statement)
    _say("GOOD" if report.ok else "TAMPERED OR DAMAGED")


def _say(text: str) -> None:
    """Print a text that may hold bytes of a damaged file."""
    typer.echo(text.encode("utf-8", "replace").decode())


def _print_level(level: Level) -> None:
    _say(f"level {level.number}  {level.name}: {_STATES[level.ok]}")
    for problem in level.problems:
        _say(f"         PROBLEM {problem}")
    for note in level.notes:
        _say(f"         {note}")


def _print_numbers(name: str, numbers: Sequence[int]) -> None:
    if numbers:
        ranges = _ranges(numbers)
        more = f" and {len(ranges) - _RANGES_SHOWN} more" if len(ranges) > _RANGES_SHOWN else ""
        _say(f"{name}: {', '.join(ranges[:_RANGES_SHOWN])}{more}")


def _ranges(numbers: Sequence[int]) -> list[str]:
    """Return ascending numbers as ranges: 1, 2, 3, 7 as 1-3 and 7."""
    breaks = [at for at, (one, other) in enumerate(pairwise(numbers), 1) if other != one + 1]
    starts, ends = [0, *breaks], [*breaks, len(numbers)]
    pairs = ((numbers[start], numbers[end - 1]) for start, end in zip(starts, ends, strict=True))
    return [str(low) if low == high else f"{low}-{high}" for low, high in pairs]


def _keys(given: str) -> list[str]:
    """Return the keys of a file, one a line, or the one that was given as text."""
    path = Path(given)
    text = _text(path) if path.is_file() else given
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line.split()[0] for line in lines if line]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_FILE:
            raise InvalidInput("file", f"{path} is longer than {_MAX_FILE} bytes")
        return path.read_bytes().decode()
    except OSError as error:
        raise InvalidInput("file", f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"{path} is not text") from error

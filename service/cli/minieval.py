"""``groundkeeper import-minieval …``."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from service import bootstrap
from service.audit.minieval import MiniEvalReport, verify_minieval
from service.domain.errors import InvalidInput, Unavailable
from service.ports.storage import Scope
from service.settings import load_settings
from service.usecases.minieval import ImportMiniEval

app = typer.Typer(no_args_is_help=True, help="Audit logs of MiniEval (JSON Lines).")

_GOOD, _BAD, _UNDECIDED = 0, 1, 2
_MOST_BYTES = 512 * 1024 * 1024

LogFile = Annotated[Path, typer.Argument(help="The log.", metavar="FILE")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]


@app.command("verify")
def verify(file: LogFile, as_json: AsJson = False) -> int:
    """Verify a log, and say what its format cannot show.

    Exit 0 intact, 1 not, 2 nothing to verify.
    """
    _, report = verify_minieval(_lines(file))
    if as_json:
        typer.echo(json.dumps(asdict(report), indent=2))
    else:
        _print(report)
    return _UNDECIDED if report.reason == "empty" else _GOOD if report.ok else _BAD


@app.command("import")
def take_in(
    file: LogFile,
    user: Annotated[
        str | None, typer.Option(help="Whose texts they are; without it none is kept.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Into whose log.")] = "default",
    accept_broken: Annotated[
        bool, typer.Option("--accept-broken", help="Take in a log that does not verify, marked.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Record a log's entries in ours, as imported evaluations; the service must not be running.

    The same entries again change nothing. Exit 0 done, 1 refused.
    """
    lines, settings = _lines(file), load_settings()
    bootstrap.start_logging(settings)
    container = bootstrap.build(settings)
    try:
        importing = ImportMiniEval(database=container.database)
        done = importing.run(
            Scope(tenant, "import"), lines, user_id=user, accept_broken=accept_broken
        )
    finally:
        container.close()
    if as_json:
        typer.echo(json.dumps(asdict(done), indent=2))
    else:
        _print(done.report)
        if done.refused is not None:
            typer.echo(f"REFUSED ({done.refused}): nothing was imported. See --accept-broken.")
        else:
            typer.echo(f"{done.imported} imported, {done.known} were there already")
        if done.withheld:
            typer.echo(f"{done.withheld} hold a credential: of those no text was kept")
    return _GOOD if done.refused is None else _BAD


def _lines(file: Path) -> list[bytes]:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise InvalidInput("file", f"is larger than {_MOST_BYTES} bytes")
        return file.read_bytes().split(b"\n")
    except OSError as error:
        raise Unavailable("file", f"cannot read {file}: {error.strerror}") from error


def _print(report: MiniEvalReport) -> None:
    typer.echo(f"{report.verified} of {report.total} entries verified: {report.reason}")
    found = {
        "changed, or not following the one before": report.broken_at,
        "right in themselves, but behind a change or gap": report.compromised,
        "WITHOUT HASHES, so never verified": report.unhashed,
        "lines that are no entries": report.malformed,
    }
    for name, numbers in found.items():
        if numbers:
            typer.echo(f"  {name}: {', '.join(map(str, numbers))}")
    if report.head_missing:
        typer.echo("  the first entry names one before it: the START IS MISSING")
    if report.last_hash is not None:
        typer.echo(f"last entry_hash: {report.last_hash}")
    typer.echo("what this format cannot show, however well it looks:")
    for statement in report.not_excluded:
        typer.echo(f"  - {statement}")

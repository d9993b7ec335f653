"""The command line: parse, call a use case, print.

Exit codes: 0 good, 1 tampered or failed, 2 cannot decide or cannot run, 3 used wrongly.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
import uvicorn

from service import bootstrap
from service.adapters.allocator import tune_heaps
from service.cli import audit, backup, checkpoints, export, minieval, report, retention
from service.domain.check import CheckInput
from service.domain.errors import GroundkeeperError, InvalidInput
from service.domain.verdicts import Speaker
from service.http.openapi import openapi_yaml
from service.http.schemas.common import filled_text, parse_moment
from service.modelkit.inventory import list_models, verify_models
from service.settings import Settings, SettingsError, load_settings
from service.usecases.authenticate import Role, new_key, parse_entry
from service.usecases.policies import BUILT_IN

GOOD, BAD, UNDECIDED, USAGE = 0, 1, 2, 3
_GRACE_SECONDS = 30

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Checks a fact against its source before an AI may remember it.",
)
models_app = typer.Typer(no_args_is_help=True, help="The models and their files.")
app.add_typer(models_app, name="models")
app.add_typer(checkpoints.checkpoint_app, name="checkpoint")
app.add_typer(checkpoints.keys_app, name="keys")
app.add_typer(minieval.app, name="import-minieval")
app.command()(audit.verify)
app.command()(export.export)
app.command()(report.report)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(retention.retain)


class RoleName(StrEnum):
    """Roles, by the names that the command line takes."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"


def main() -> None:
    """Run the command line; an error becomes one line and an exit code."""
    try:
        code = app(standalone_mode=False)
    except (SettingsError, InvalidInput) as error:
        _stop(str(error), USAGE)
    except GroundkeeperError as error:
        _stop(str(error), UNDECIDED)
    except typer.Abort:
        _stop("Aborted.", USAGE)
    except typer.TyperException as error:
        _stop(error.format_message(), USAGE)
    sys.exit(code if isinstance(code, int) else GOOD)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address; GROUNDKEEPER_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; GROUNDKEEPER_PORT.")] = None,
    workers: Annotated[int | None, typer.Option(help="Only 1 is possible.")] = None,
) -> None:
    """Run the service."""
    settings = load_settings(host=host, port=port, workers=workers)
    tune_heaps()
    bootstrap.start_logging(settings)
    container = bootstrap.build(settings)
    application = bootstrap.create_app(settings, lambda: container)
    uvicorn.run(
        application,
        host=settings.host,
        port=settings.port,
        workers=1,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


@app.command()
def check(
    fact: Annotated[str, typer.Argument(help="The fact.")],
    source: Annotated[str, typer.Argument(help="The source; - reads standard input.")],
    speaker: Annotated[Speaker, typer.Option(help="Who said the source.")] = Speaker.USER,
    speaker_name: Annotated[str | None, typer.Option(help="What the speaker is called.")] = None,
    observed_at: Annotated[str | None, typer.Option(help="When it was said.")] = None,
) -> None:
    """Check one fact under the built-in policy and print the outcome; nothing is recorded."""
    text = sys.stdin.read() if source == "-" else source
    asked = CheckInput(
        source=_read("source", filled_text, text),
        fact=_read("fact", filled_text, fact),
        speaker=speaker,
        speaker_name=speaker_name,
        observed_at=_read("observed_at", parse_moment, observed_at) if observed_at else None,
    )
    with bootstrap.open_gate(load_settings()) as gate:
        _print_json(asdict(gate.judge([(asked, BUILT_IN)])[0]))


@app.command()
def keygen(
    tenant: Annotated[str, typer.Option(help="Whose data the key reaches.")] = "default",
    role: Annotated[RoleName, typer.Option(help="What it may do.")] = RoleName.WRITER,
) -> None:
    """Make an API key: print it once, and the line to configure."""
    key, made = new_key(tenant, Role[role.name])
    parse_entry(made.entry())
    typer.echo(f"key (give it to the client; it is not shown again):\n  {key}")
    typer.echo(f"entry (add it to GROUNDKEEPER_API_KEYS):\n  {made.entry()}")


@app.command()
def doctor() -> int:
    """Show versions, model hashes and the state of the database."""
    settings = load_settings()
    findings = bootstrap.examine(settings)
    for finding in findings:
        _print_finding(ok=finding.ok, name=finding.name, detail=finding.detail)
    return _verify_models(settings) if all(f.ok for f in findings) else BAD


@app.command()
def openapi(
    out: Annotated[Path | None, typer.Option(help="File to write; else printed.")] = None,
    check_only: Annotated[
        bool, typer.Option("--check", help="Only say whether the file is current.")
    ] = False,
) -> int:
    """Write the API's description, made from the code."""
    text = openapi_yaml(bootstrap.create_app(Settings(api_keys=(), allow_open=True)))
    if out is None:
        typer.echo(text, nl=False)
    elif check_only:
        if not out.exists() or out.read_text(encoding="utf-8") != text:
            typer.echo(f"{out} is not current; run: make openapi", err=True)
            return BAD
    else:
        out.write_text(text, encoding="utf-8")
    return GOOD


@app.command()
def reindex() -> int:
    """Build the vector index anew from the database; the service must not be running."""
    container = bootstrap.build(load_settings())
    try:
        container.loader.start()
        container.loader.wait()
        state = container.index.reindex()
    finally:
        container.close()
    _print_json(asdict(state))
    return GOOD


@app.command("eval")
def evaluate(
    data: Annotated[Path | None, typer.Option(help="Folder with the public data sets.")] = None,
    cases: Annotated[Path, typer.Option(help="Folder with the case files.")] = Path("tests/cases"),
    out: Annotated[Path | None, typer.Option(help="Where to write the figures.")] = None,
    full: Annotated[bool, typer.Option("--full", help="All rows, not a sample.")] = False,
) -> int:
    """Measure the gate on case files and public data sets."""
    run = importlib.import_module("service.evaluation.run")
    return int(run.main(data, cases, out, full))


@models_app.command("list")
def models_list() -> None:
    """List the models with their sources, licences and digests."""
    for folder in _model_folders(load_settings()):
        for model in list_models(folder):
            typer.echo(f"{model.role}: {model.model_id} {model.digest}")
            typer.echo(f"  source {model.source}, revision {model.revision}")
            typer.echo(f"  licence {model.licence}")


@models_app.command("verify")
def models_verify() -> int:
    """Check every model file against its hash."""
    return _verify_models(load_settings())


@models_app.command("export")
def models_export(
    source: Annotated[str, typer.Option("--from", help="A Hub id or a local folder.")],
    role: Annotated[str, typer.Option(help="nli, embedder or toxicity.")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    revision: Annotated[str, typer.Option(help="Revision on the Hub.")] = "main",
    quantised: Annotated[bool, typer.Option(help="Serve int8 rather than fp32.")] = True,
) -> None:
    """Export a model to a folder that the service can load (needs the extra "export")."""
    export = importlib.import_module("service.modelkit.export").export_model
    report = export(role, source, out, quantised=quantised, revision=revision)
    _print_json({**asdict(report), "folder": str(report.folder)})


def _model_folders(settings: Settings) -> list[Path | None]:
    chosen = (settings.models.nli, settings.models.embedder)
    return list(dict.fromkeys(chosen))


def _verify_models(settings: Settings) -> int:
    files = [f for folder in _model_folders(settings) for f in verify_models(folder)]
    for file in files:
        detail = file.problem or file.sha256
        _print_finding(ok=not file.problem, name=f"{file.model_id} {file.part}", detail=detail)
    return BAD if any(f.problem for f in files) else GOOD


def _print_finding(*, ok: bool, name: str, detail: str) -> None:
    typer.echo(f"{'ok ' if ok else 'BAD'}  {name}: {detail}")


def _print_json(value: Any) -> None:  # noqa: ANN401 - whatever can be JSON
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _read(name: str, parse: Callable[[str], Any], text: str) -> Any:  # noqa: ANN401 - as parsed
    try:
        return parse(text)
    except ValueError as error:
        raise InvalidInput(name, str(error)) from None


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    sys.exit(code)

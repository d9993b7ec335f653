"""``groundkeeper checkpoint …`` and ``groundkeeper keys …``."""

from __future__ import annotations

from typing import Annotated

import typer

from service import bootstrap
from service.settings import load_settings

checkpoint_app = typer.Typer(no_args_is_help=True, help="Signed checkpoints of the audit log.")
keys_app = typer.Typer(no_args_is_help=True, help="The keys that sign checkpoints.")

_BAD, _USAGE = 1, 3
_WARNING = """\
Adopting vouches for the log as it is now. Whatever was changed, cut off or restored before this
moment can no longer be told from the checkpoints here; those that others keep still show it.
The old checkpoints are put aside, and an entry of the log records that this was done.
Do it for a log from before there were checkpoints, or once you know why the log is not the one
that was signed. The service must not be running. To go on, add --yes."""


@checkpoint_app.command("show")
def show() -> int:
    """Print the last signed checkpoint, ready to be kept by somebody else."""
    note = bootstrap.latest_checkpoint(load_settings())
    if note is None:
        typer.echo("There is no checkpoint.", err=True)
        return _BAD
    typer.echo(note, nl=False)
    return 0


@checkpoint_app.command("adopt")
def adopt(
    yes: Annotated[bool, typer.Option("--yes", help="Do it.")] = False,
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Even if the log does not verify in itself.")
    ] = False,
) -> int:
    """Vouch for the log as it is now, whatever was signed before; says first what that means."""
    settings = load_settings()
    if not yes:
        typer.echo(_WARNING, err=True)
        return _USAGE
    location = bootstrap.database_location(settings)
    report = bootstrap.verify_database(location, settings.origin)
    if not report.ok and not damaged:
        typer.echo(
            f"The log does not verify in itself ({report.reason}): run groundkeeper verify, and "
            "restore a backup if you can. To adopt it all the same, add --damaged.",
            err=True,
        )
        return _BAD
    done = bootstrap.adopt_checkpoint(settings, "Put aside by groundkeeper checkpoint adopt.")
    typer.echo(f"Entry {done.seq} records it. The first checkpoint of the new store:\n")
    typer.echo(done.note, nl=False)
    if done.archived is not None:
        typer.echo(f"\nThe old checkpoints are in {done.archived}.")
    return 0


@keys_app.command("show")
def show_keys() -> int:
    """Print the public keys as text (C2SP verifier keys), for those who verify."""
    current, retired = bootstrap.log_keys(load_settings())
    if current is None:
        typer.echo(
            "There is no signing key yet; the first start of the service makes it.", err=True
        )
        return _BAD
    typer.echo(current)
    for key in reversed(retired):
        typer.echo(f"{key} (retired)")
    return 0


@keys_app.command("rotate")
def rotate() -> None:
    """Let a new key sign checkpoints; both sign one, the old private key is destroyed.

    The service must not be running.
    """
    done = bootstrap.rotate_log_key(load_settings())
    typer.echo(f"signs from now on:\n  {done.new}\nretired:\n  {done.old}")
    typer.echo("The checkpoint that both have signed; give it to those who verify:\n")
    typer.echo(done.note, nl=False)

"""``groundkeeper backup`` and ``groundkeeper restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from service import bootstrap
from service.adapters.backup.wiring import back_up, restore_from
from service.domain.errors import Conflict, Damaged, ReadOnly
from service.settings import load_settings
from service.usecases.restore import Wishes

_BAD, _USAGE = 1, 3
_WITNESSES = """\
The log went back. Whoever holds a later checkpoint than the one above sees that this log does not
continue it, and is right to: tell them, and give them the new checkpoint. The old ones are kept in
{archived}."""


def backup(
    out: Annotated[Path, typer.Option(help="Folder to keep backups in.")],
    keep: Annotated[
        int | None, typer.Option(min=1, help="Remove the oldest beyond so many.")
    ] = None,
) -> int:
    """Copy the database with its last checkpoint, while the service runs or not.

    Everything personal is encrypted in it; the keys are not in it. Back up KEY_DIR separately.
    """
    settings = load_settings()
    try:
        made, seq = back_up(bootstrap.installation(settings), out, keep, settings.origin)
    except Damaged as error:
        typer.echo(error.detail, err=True)
        return _BAD
    manifest = made.manifest
    typer.echo(f"{made.path}")
    typer.echo(f"{manifest.size} entries of {manifest.log}, root {manifest.root}")
    typer.echo(
        f"the checkpoint in it covers {manifest.checkpoint_size}; "
        f"{manifest.beyond} more are covered by its signed manifest only"
    )
    typer.echo(f"manifest sha256 {made.digest}")
    if seq is None:
        typer.echo("not recorded in the log: the service is running, and only it writes there")
    else:
        typer.echo(f"recorded in the log as entry {seq}")
    for name in made.removed:
        typer.echo(f"removed {name}")
    typer.echo("The keys are NOT in it. Copy KEY_DIR separately, after this backup.")
    return 0


def restore(
    source: Annotated[Path, typer.Option("--from", help="One backup: a folder.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Move the data that is there aside.")
    ] = False,
    accept_rollback: Annotated[
        bool, typer.Option("--accept-rollback", help="Go back behind the last checkpoint.")
    ] = False,
) -> int:
    """Verify a backup, then put it in place; the service must not be running.

    Nothing is changed unless everything verifies. What was erased since is erased again.
    """
    settings = load_settings()
    wishes = Wishes(replace=replace, accept_rollback=accept_rollback)
    place, derived = bootstrap.installation(settings), (settings.data_dir / "index",)
    try:
        restored, adopted = restore_from(place, derived, source, wishes)
    except (Damaged, ReadOnly) as error:
        typer.echo(f"Nothing was changed. {error.detail}.", err=True)
        return _BAD
    except Conflict as error:
        typer.echo(str(error), err=True)
        return _USAGE
    report, again = restored.report, restored.repeated
    typer.echo(
        f"restored {restored.opened.manifest.size} entries of {restored.opened.manifest.log}"
    )
    typer.echo(f"verified: {report.verified} of {report.total} entries, {report.reason}")
    typer.echo(
        f"erased again: {again.users} users whose key was destroyed, {again.statements} statements"
    )
    if restored.aside is not None:
        typer.echo(f"the data that was there is in {restored.aside}; delete it once all is well")
    if adopted is not None:
        typer.echo(f"\n{restored.rollback}")
        typer.echo("The first checkpoint of the new series:\n")
        typer.echo(adopted.note)
        typer.echo(_WITNESSES.format(archived=adopted.archived))
    typer.echo("The vector index is built anew at the next start.")
    return 0

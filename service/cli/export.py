"""``groundkeeper export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from service import bootstrap
from service.adapters.exporting.wiring import csv_to, export_to
from service.settings import load_settings
from service.usecases.export_log import Wanted


class ExportForm(StrEnum):
    """What an export can be."""

    FOLDER = "folder"
    CSV = "csv"


def export(
    out: Annotated[Path, typer.Option(help="Folder to make, or with csv the file.")],
    bodies: Annotated[bool, typer.Option("--bodies", help="With the texts.")] = False,
    tenant: Annotated[str | None, typer.Option(help="Only one tenant's entries.")] = None,
    user: Annotated[
        str | None, typer.Option(help='Only one user\'s entries; of the tenant "default".')
    ] = None,
    form: Annotated[
        ExportForm, typer.Option("--format", help="A folder to verify, or CSV to look at.")
    ] = ExportForm.FOLDER,
) -> None:
    """Export the log to be read, and verified, without this service, which may be running.

    A part of the log (--tenant, --user) comes with a proof for each entry.
    """
    place, wanted = bootstrap.installation(load_settings()), Wanted(tenant, user, bodies)
    if form is ExportForm.CSV:
        count = csv_to(place, out, wanted)
        typer.echo(f"{out}: {count} entries")
        return
    count, signed = export_to(place, out, wanted)
    typer.echo(f"{out}: {count} entries; VERIFY.md in it says how to verify them")
    if not signed:
        typer.echo("There is no checkpoint yet, so nothing in it is signed.", err=True)

"""``groundkeeper report``."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from service import bootstrap
from service.adapters.exporting.wiring import report_on
from service.domain.errors import Conflict, InvalidInput
from service.http.schemas.common import parse_moment
from service.settings import load_settings


class ReportForm(StrEnum):
    """What a report can be."""

    HTML = "html"
    MD = "md"
    JSON = "json"


def report(
    out: Annotated[Path, typer.Option(help="File to write.")],
    form: Annotated[ReportForm, typer.Option("--format", help="How it is written.")] = (
        ReportForm.HTML
    ),
    tenant: Annotated[str, typer.Option(help="Whose decisions.")] = "default",
    since: Annotated[str | None, typer.Option(help="From when on.")] = None,
    until: Annotated[str | None, typer.Option(help="Until before when.")] = None,
) -> int:
    """Write a report on the log for somebody who has to judge it; the service may be running.

    Exit 0 if the log verifies, 1 if it does not; the report is written in both cases.
    """
    if out.exists():
        raise Conflict(f"{out} exists.")
    period = (_moment("since", since), _moment("until", until))
    place = bootstrap.installation(load_settings())
    made, sound = report_on(place, tenant, period, form.value)
    out.write_bytes(made)
    typer.echo(f"{out}: written" + ("" if sound else "; THE LOG DOES NOT VERIFY"))
    return 0 if sound else 1


def _moment(name: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_moment(text)
    except ValueError as error:
        raise InvalidInput(name, str(error)) from None

"""``groundkeeper retain``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from service import bootstrap
from service.adapters.retaining import due_now, retain_in
from service.domain.errors import InvalidInput
from service.settings import Settings, load_settings
from service.usecases.retention import Retained


def retain(
    days: Annotated[
        int | None, typer.Option(min=1, help="Instead of GROUNDKEEPER_RETENTION__DAYS.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how much; the service may be running.")
    ] = False,
) -> None:
    """Erase what is older than the retention policy allows; the service must not be running.

    A running service does the same once a day, if GROUNDKEEPER_RETENTION__DAILY is set.
    """
    settings = load_settings()
    wanted = days or settings.retention.days
    if not wanted:
        raise InvalidInput("RETENTION__DAYS", "is 0, which keeps everything; give --days")
    if dry_run:
        found = due_now(bootstrap.installation(settings), wanted)
    else:
        found = _erase(settings, wanted)
    typer.echo(json.dumps({"dry_run": dry_run, "days": wanted, **asdict(found)}, indent=2))


def _erase(settings: Settings, days: int) -> Retained:
    """Open everything, because what is erased goes from the vector index too."""
    container = bootstrap.build(settings)
    try:
        container.loader.start()
        container.loader.wait()
        return retain_in(container.database, container.services.erasure.finisher).run(days)
    finally:
        container.close()

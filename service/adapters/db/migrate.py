"""Bringing the schema up to date, in-process: there is no alembic.ini to find or to forget."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine

import migrations
from service.adapters.db.errors import DEPENDENCY
from service.domain.errors import Damaged, Unavailable


def migrate(engine: Engine) -> None:
    """Run every migration that is missing, all in one transaction.

    Raises ``Unavailable`` for a database of a revision that this code does not know.
    """
    config = _config()
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        reason = f"its schema is not one that this version can bring up to date ({error})"
        raise Unavailable(DEPENDENCY, reason) from error


def head_revision() -> str | None:
    """Return the revision that this code needs."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def current_revision(connection: Connection) -> str | None:
    """Return the revision that the database is at; raises ``Damaged`` if it names several."""
    try:
        return MigrationContext.configure(connection).get_current_revision()
    except CommandError as error:
        raise Damaged(DEPENDENCY, f"its revision cannot be read ({error})") from error


def _config() -> Config:
    config = Config()
    folder = Path(migrations.__file__).parent
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config

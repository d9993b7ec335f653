"""Databases as earlier releases left them behind, with the content of today's."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from sqlalchemy import Connection

from service.adapters.db.engine import choose_driver, writer_engine
from service.adapters.db.migrate import _config

TABLES = (
    "SELECT name FROM {schema}.sqlite_schema WHERE type = 'table'"
    " AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'"
)


def make_old(path: Path, revision: str, content: Path) -> None:
    """Build a database at a revision, with those rows and columns of ``content`` it knows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = writer_engine(path, choose_driver(), busy_timeout=5)
    try:
        config = _config()
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
        with engine.connect() as connection:
            raw = connection.connection.driver_connection
            raw.execute("PRAGMA foreign_keys = OFF")
            raw.execute("ATTACH ? AS today", (str(content),))
            _copy(connection)
            connection.commit()
    finally:
        engine.dispose()


def _copy(connection: Connection) -> None:
    def all_of(statement: str) -> list[tuple]:
        return connection.exec_driver_sql(statement).all()

    guards = all_of("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")
    for name, _ in guards:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    for (table,) in all_of(TABLES.format(schema="main")):
        known = {row[1] for row in all_of(f"PRAGMA main.table_info({table})")}
        columns = ", ".join(
            row[1] for row in all_of(f"PRAGMA today.table_info({table})") if row[1] in known
        )
        connection.exec_driver_sql(
            f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}"
        )
    for _, text in guards:
        connection.exec_driver_sql(text)

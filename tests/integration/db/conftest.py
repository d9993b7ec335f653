"""A database in a temporary folder, and a way around its guards."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.system import RandomIdentifiers, SystemClock
from service.audit.commitment import commit, new_salt
from service.audit.verify import Report
from service.ports.storage import Body, EntryDraft, Scope
from service.usecases.verification import verify_log

SCOPE = Scope("default", "key_1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "groundkeeper.db"


@pytest.fixture
def open_it(path: Path) -> Iterator[Callable[..., SqlDatabase]]:
    opened = []

    def open_it(**options: object) -> SqlDatabase:
        opened.append(
            open_database(path, clock=SystemClock(), identifiers=RandomIdentifiers(), **options)
        )
        return opened[-1]

    yield open_it
    for database in opened:
        database.close()


@pytest.fixture
def database(open_it: Callable[..., SqlDatabase]) -> SqlDatabase:
    return open_it()


@pytest.fixture
def append() -> Callable[..., int]:
    def append(database: SqlDatabase, text: str = "I moved to Lyon.") -> int:
        body = Body(new_salt(), text)
        draft = EntryDraft(
            "check.decided",
            SCOPE.actor,
            subject="sub_1",
            commitments={"fact": commit(body.salt, text.encode())},
        )
        return database.write(SCOPE, lambda tx: tx.audit.append(draft, {"fact": body})).seq

    return append


@pytest.fixture
def check() -> Callable[[SqlDatabase], Report]:
    def check(database: SqlDatabase) -> Report:
        return database.read(SCOPE, verify_log)

    return check


@pytest.fixture
def tamper(path: Path) -> Callable[..., None]:
    """Run statements with every trigger dropped, and put the triggers back."""

    def tamper(*statements: str, restore: bool = True) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as attacker:
            triggers = attacker.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                attacker.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                attacker.execute(statement)
            for _, sql in triggers if restore else ():
                attacker.execute(sql)

    return tamper

"""A real database with users in it, and memories and turns to fill it with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.adapters.db.database import open_database
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.memory import (
    Memory,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    Triple,
    Turn,
)
from service.ports.storage import Database, Page, PageRequest, Scope, Transaction

ACME, OTHER = Scope("acme", "key_1"), Scope("other", "key_2")
START = datetime(2026, 11, 29, 17, 0, 0, 123456, tzinfo=UTC)


def later(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


@dataclass
class Users:
    """Two users of one tenant, and one of another with the same name as the first."""

    alice: Owner
    bob: Owner
    foreign: Owner


@pytest.fixture(params=["sqlite"])
def database(request, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(
        tmp_path / "data.db", clock=SystemClock(), identifiers=RandomIdentifiers()
    )
    yield opened
    opened.close()


@pytest.fixture
def users(database) -> Users:
    def owner(scope: Scope, name: str) -> Owner:
        return Owner(database.write(scope, lambda tx: tx.subjects.id_for(name)), name)

    return Users(owner(ACME, "alice@example.org"), owner(ACME, "bob"), owner(OTHER, "alice"))


@pytest.fixture
def write(database) -> Callable:
    def write(work: Callable[[Transaction], object], scope: Scope = ACME):
        return database.write(scope, work)

    return write


@pytest.fixture
def read(database) -> Callable:
    def read(work: Callable[[Transaction], object], scope: Scope = ACME):
        return database.read(scope, work)

    return read


@pytest.fixture
def memory() -> Callable:
    def memory(owner: Owner, name: str, **given) -> Memory:
        values = {
            "id": f"mem_{name}",
            "owner": owner,
            "text": "The user lives in Lyon",
            "type": MemoryType.FACT,
            "triple": Triple("user", "home", "Lyon"),
            "importance": 0.5,
            "status": MemoryStatus.ACTIVE,
            "origin": Origin(None, "user", "I live in Lyon", 0, 14, "o" * 64),
            "observed_at": START,
            "recorded_at": START,
            "updated_at": START,
            "verdict": "STORE",
            "decision_id": "chk_1",
            "policy_fingerprint": "f1",
            "content_hash": "c" * 64,
            "state_hash": "s" * 64,
        }
        return Memory(**values | given)

    return memory


@pytest.fixture
def turn() -> Callable:
    def turn(owner: Owner, name: str = "1", **given) -> Turn:
        values = {"role": "user", "text": "I live in Łódź. 🌍\x00", "language": "en"}
        return Turn(
            id=f"turn_{name}",
            owner=owner,
            content_hash="t" * 64,
            observed_at=START,
            recorded_at=later(1),
            **values | given,
        )

    return turn


@pytest.fixture
def paged() -> Callable:
    def paged(get: Callable[[PageRequest], Page], limit: int = 2, between=lambda: None) -> list:
        seen, cursor = [], None
        while True:
            page = get(PageRequest(limit, cursor))
            seen += page.items
            if page.next_cursor is None:
                return seen
            cursor = page.next_cursor
            between()

    return paged

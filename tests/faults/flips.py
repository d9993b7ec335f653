"""Every bit of every value that the log consists of, flipped one at a time and put back."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from service.adapters.db.engine import choose_driver, writer_engine
from service.adapters.db.repository import Session
from service.adapters.db.transaction import SqlTransaction
from service.adapters.subject_keys.store import open_subject_keys
from service.audit.verify import Report
from service.ports.storage import SYSTEM
from service.ports.subject_keys import SubjectKeys
from service.usecases.verification import verify_log
from tests.faults.deeds import CLOCK, IDENTIFIERS, key_folder

LOG = {"entry": ("seq",), "body": ("seq", "name"), "head": ("id",), "node": ("level", "position")}
STATES = {"decision": ("tenant", "id"), "memory": ("position",), "subject": ("tenant", "user_id")}
KEYS = LOG | STATES
_STORED = {"text": "CAST(? AS TEXT)", "blob": "?", "integer": "?", "real": "?"}
_INTEGER_BYTES = 8
_REAL = ">d"


@dataclass(frozen=True)
class Bit:
    """One bit of one stored value; ``data`` is the value's bytes (of an integer, big-endian)."""

    table: str
    key: tuple[object, ...]
    column: str
    kind: str
    data: bytes
    number: int

    def flipped(self) -> object:
        """Return the value with this bit flipped, as it is to be stored."""
        changed = bytearray(self.data)
        changed[self.number // 8] ^= 1 << self.number % 8
        if self.kind == "integer":
            return int.from_bytes(changed, "big", signed=True)
        if self.kind == "real":
            return struct.unpack(_REAL, changed)[0]
        return bytes(changed)


@dataclass(frozen=True)
class Opened:
    """A connection that can change everything, and the keys of the texts."""

    connection: Connection
    keys: SubjectKeys


@contextmanager
def open_to_change(path: Path) -> Iterator[Opened]:
    """Open a database around its guards; nothing is committed."""
    engine = writer_engine(path, choose_driver(), busy_timeout=5)
    keys = open_subject_keys(key_folder(path), None)
    try:
        with engine.connect() as connection:
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = OFF")
            yield Opened(connection, keys)
            connection.rollback()
    finally:
        keys.close()
        engine.dispose()


def bits(opened: Opened, tables: Iterable[str]) -> list[Bit]:
    """List every bit of every value of these tables that is not NULL."""
    connection = opened.connection
    found: list[Bit] = []
    for table in tables:
        key = KEYS[table]
        columns = [
            row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table})").all()
        ]
        for column in columns:
            query = f"SELECT typeof({column}), {column}, {', '.join(key)} FROM {table}"
            for kind, value, *place in connection.exec_driver_sql(query).all():
                if kind != "null":
                    data = _bytes_of(value)
                    each = range(len(data) * 8)
                    found += [Bit(table, tuple(place), column, kind, data, n) for n in each]
    return found


def report_with(opened: Opened, bit: Bit) -> Report | None:
    """Flip a bit, verify, and flip it back; ``None`` if the table's own rules refuse the value."""
    connection = opened.connection
    session = Session(connection, SYSTEM, CLOCK, IDENTIFIERS, keys=opened.keys)
    connection.exec_driver_sql("SAVEPOINT flip")
    try:
        _update(connection, bit)
        return verify_log(SqlTransaction(session))
    except IntegrityError:
        return None
    finally:
        connection.exec_driver_sql("ROLLBACK TO flip")
        connection.exec_driver_sql("RELEASE flip")


def _update(connection: Connection, bit: Bit) -> None:
    guards = connection.exec_driver_sql(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?"
        " AND sql LIKE '%BEFORE UPDATE%'",
        (bit.table,),
    ).all()
    for name, _ in guards:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    where = " AND ".join(f"{name} = ?" for name in KEYS[bit.table])
    connection.exec_driver_sql(
        f"UPDATE {bit.table} SET {bit.column} = {_STORED[bit.kind]} WHERE {where}",
        (bit.flipped(), *bit.key),
    )
    for _, text in guards:
        connection.exec_driver_sql(text)


def _bytes_of(value: object) -> bytes:
    if isinstance(value, int):
        return value.to_bytes(_INTEGER_BYTES, "big", signed=True)
    if isinstance(value, float):
        return struct.pack(_REAL, value)
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)

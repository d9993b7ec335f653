"""Bits of the database file, flipped one at a time.

A flip changes content if a full dump of the covered tables differs, or can no longer be made. Then
verification has to say so: a report that is not ``ok``, or ``Unavailable`` (exit code 2). Any other
exception is a failure, whatever the flip.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from service.adapters.db.engine import choose_driver
from service.domain.errors import Unavailable
from tests.faults.books import verify

COVERED = {"entry": "rowid, *", "body": "rowid, *", "head": "rowid, *", "node": "*"}
REFUSED = "refused"
SQLITE = choose_driver().module


@dataclass(frozen=True)
class Flip:
    """What one flip did, and what verification said."""

    offset: int
    bit: int
    dump: str
    verdict: str

    def missed(self, original: str) -> bool:
        """Whether content changed and nobody noticed."""
        return self.dump != original and self.verdict == "ok"


class Victim:
    """A copy of a database file, and the dump of the untouched one."""

    def __init__(self, source: Path, copy: Path) -> None:
        self.data = source.read_bytes()
        self._copy = copy
        copy.parent.mkdir(parents=True)
        copy.write_bytes(self.data)
        self.original = dump(copy)
        assert not self.original.startswith(REFUSED), self.original

    def flip(self, offset: int, bit: int) -> Flip:
        """Flip one bit, look, and put it back."""
        changed = bytes([self.data[offset] ^ 1 << bit])
        self._write(offset, changed)
        try:
            return Flip(offset, bit, dump(self._copy), self._verdict())
        finally:
            self._write(offset, self.data[offset : offset + 1])

    def _verdict(self) -> str:
        try:
            report = verify(self._copy)
        except Unavailable:
            return "cannot decide"
        return "ok" if report.ok else "not ok"

    def _write(self, offset: int, data: bytes) -> None:
        handle = os.open(self._copy, os.O_WRONLY)
        os.pwrite(handle, data, offset)
        os.close(handle)


def dump(path: Path) -> str:
    """Return a digest of every value of the covered tables, or why there is none."""
    digest = hashlib.sha256()
    try:
        with closing(SQLITE.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            for table, columns in COVERED.items():
                rows = connection.execute(f"SELECT {columns} FROM {table} NOT INDEXED")
                for row in rows:
                    digest.update(repr(row).encode())
    except (SQLITE.Error, UnicodeDecodeError) as error:  # the driver cannot decode some messages
        return f"{REFUSED}: {error}"
    return digest.hexdigest()

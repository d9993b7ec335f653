"""Reading an export back, for ``verify --export``; everything in it is untrusted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.adapters.exporting.folder import BODIES, CHECKPOINTS, ENTRIES, PROOFS
from service.audit.canonical import MAX_BYTES, MAX_INT
from service.audit.chain import leaf_hash
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow, Body
from service.domain.errors import InvalidInput, Unavailable

_FIRST: Final = 0
_PARTS: Final = {"seq", "name", "salt", "text"}


@dataclass(frozen=True, slots=True)
class Export:
    """An export on disk.

    Attributes:
        folder: where it is.
        notes: the text of ``checkpoints.txt``, as it is.
        has_bodies: whether texts were exported at all.
    """

    folder: Path
    notes: str
    has_bodies: bool

    def rows(self) -> Iterator[AuditRow]:
        """Go through the entries in the order of their lines, with their texts.

        An entry's number is the one it claims, or for an unreadable one the next. Raises
        ``VerificationError`` for a file that is cut off and for a text of no entry, and
        ``Unavailable`` for a file that cannot be read.
        """
        with _reported(self.folder):
            texts = _Texts(_lines(self.folder / BODIES) if self.has_bodies else iter(()))
            due = _FIRST
            for line in _lines(self.folder / ENTRIES):
                seq = _claimed(line, due)
                yield AuditRow(seq, line, leaf_hash(line), texts.take(seq))
                due = seq + 1
            texts.finish()


def open_export(folder: Path) -> Export:
    """Return the export in a folder.

    Raises:
        InvalidInput: it is no export, or one of a part of a log, which only its own script checks.
        Unavailable: it cannot be read.
    """
    if not (folder / ENTRIES).is_file():
        raise InvalidInput("export", f"{folder} holds no {ENTRIES}")
    if (folder / PROOFS).exists():
        raise InvalidInput(
            "export", "is of a part of a log; run the verify.py in it, which checks each proof"
        )
    with _reported(folder):
        path = folder / CHECKPOINTS
        notes = path.read_bytes().decode("utf-8") if path.exists() else ""
        return Export(folder, notes, (folder / BODIES).exists())


class _Texts:
    """Texts in the order of their entries, handed out entry by entry."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._texts = map(_text, lines)
        self._ahead = next(self._texts, None)
        self._stray: list[int] = []

    def take(self, seq: int) -> Mapping[str, Body]:
        """Return the texts of this entry; those before it belong to none."""
        found: dict[str, Body] = {}
        while self._ahead is not None and self._ahead[0] < seq:
            self._stray.append(self._ahead[0])
            self._ahead = next(self._texts, None)
        while self._ahead is not None and self._ahead[0] == seq:
            _, name, body = self._ahead
            if name in found:
                raise VerificationError(f"entry {seq}: two texts called {name}")
            found[name] = body
            self._ahead = next(self._texts, None)
        return found

    def finish(self) -> None:
        """Refuse texts that belong to no entry."""
        if self._ahead is not None:
            self._stray.append(self._ahead[0])
        if self._stray:
            raise VerificationError(f"{BODIES}: a text of entry {self._stray[0]} is out of place")


def _lines(path: Path) -> Iterator[bytes]:
    """Return lines without their newline; a text may be long, an entry may not."""
    limit = MAX_BYTES + 2 if path.name == ENTRIES else -1
    with path.open("rb") as file:
        while line := file.readline(limit):
            if not line.endswith(b"\n"):
                raise VerificationError(f"{path.name}: a line is cut off, or too long")
            yield line[:-1]


def _claimed(line: bytes, due: int) -> int:
    """Return the number that an entry claims; only where it stands is it known to be true."""
    try:
        seq = json.loads(line)["seq"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return due
    return seq if type(seq) is int and 0 <= seq <= MAX_INT else due


def _text(line: bytes) -> tuple[int, str, Body]:
    try:
        given = json.loads(line)
        seq, name, text = given["seq"], given["name"], given["text"]
        salt = bytes.fromhex(given["salt"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise VerificationError(f"{BODIES}: a line that is no text") from error
    plain = type(seq) is int and isinstance(name, str) and isinstance(text, str)
    if not plain or given.keys() != _PARTS:
        raise VerificationError(f"{BODIES}: a line that is no text")
    return seq, name, Body(salt, text)


@contextmanager
def _reported(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable("export", f"cannot read {folder}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise VerificationError(f"{CHECKPOINTS}: not text") from error

"""From a database and its checkpoints to an export."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.adapters.exporting.folder import Contents, write_folder
from service.audit.errors import VerificationError
from service.audit.notes import note_text, split_notes
from service.audit.rows import AuditRow
from service.audit.tree import inclusion_proof
from service.domain.errors import Conflict, NotFound, Unavailable
from service.ports.storage import AuditFilter, Transaction
from service.usecases.export_csv import csv_head, csv_rows
from service.usecases.export_log import Wanted

_PAGE: Final = 500
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Signed:
    """The published checkpoints, in order, and the public keys as text."""

    notes: Sequence[str]
    keys: Sequence[str]


def published(file: Path, latest: str | None) -> list[str]:
    """Return the checkpoints that an export holds: handed-over ones and the last hundred.

    One vouches for all entries before it, so the earlier ones add nothing but time to check them.
    Raises ``Unavailable`` if the file cannot be read.
    """
    try:
        notes = split_notes(file.read_bytes().decode("utf-8")) if file.exists() else ()
    except (OSError, UnicodeDecodeError, VerificationError) as error:
        raise Unavailable("export", f"cannot read {file}") from error
    found = list(dict.fromkeys([*notes, latest] if latest else notes))
    last = found[-_MOST:]
    return [n for n in found[:-_MOST] if _signatures(n) > 1] + last


def export_folder(tx: Transaction, out: Path, wanted: Wanted, signed: Signed) -> int:
    """Write an export folder and return how many entries it has.

    ``tx`` is in the scope of ``wanted``; ``signed`` was read before its snapshot, so that none of
    the checkpoints is newer.

    Raises:
        NotFound: nothing was ever recorded about this user.
        Conflict: ``out`` exists and is not an empty folder.
        Unavailable: the disk cannot be used.
    """

    def prove(seq: int, size: int) -> Sequence[bytes]:
        return inclusion_proof(seq, size, tx.audit.node)

    contents = Contents(
        origin=tx.audit.head().origin,
        rows=_rows(tx, wanted),
        notes=signed.notes,
        keys=signed.keys,
        bodies=wanted.bodies,
        prove=prove if wanted.is_part else None,
    )
    return write_folder(out, contents)


def export_csv(tx: Transaction, out: Path, wanted: Wanted) -> int:
    """Write a CSV file and return how many entries it has; ``out`` must not exist.

    Raises as ``export_folder``.
    """
    draft = out.with_name(f".{out.name}.part")
    try:
        if out.exists():
            raise Conflict(f"{out} exists.")
        with draft.open("wb") as file:
            count = _write_csv(file.write, _rows(tx, wanted))
        draft.replace(out)
    except OSError as error:
        raise Unavailable("export", f"cannot write {out}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
    return count


def _rows(tx: Transaction, wanted: Wanted) -> Iterator[AuditRow]:
    if not wanted.is_part:
        return tx.audit.scan()
    subject = tx.subjects.find(wanted.user) if wanted.user is not None else None
    if wanted.user is not None and subject is None:
        raise NotFound("user")
    return _tenant_rows(tx, AuditFilter(subject_id=subject))


def _tenant_rows(tx: Transaction, which: AuditFilter) -> Iterator[AuditRow]:
    last = -1
    while rows := tx.audit.after(which, last, _PAGE):
        yield from rows
        last = rows[-1].seq


def _write_csv(write: Callable[[bytes], object], rows: Iterable[AuditRow]) -> int:
    write(csv_head())
    count = 0
    for row in rows:
        write(csv_rows([row]))
        count += 1
    return count


def _signatures(note: str) -> int:
    return note.removeprefix(note_text(note)).count("\n\N{EM DASH} ")

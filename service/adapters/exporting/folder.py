"""Writing an export: a folder that can be read and verified without this service."""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from service.adapters.durable import sync_folder
from service.adapters.exporting.guide import About, guide
from service.audit.errors import VerificationError
from service.audit.notes import VerifierKey, note_text, parse_checkpoint, parse_verifier_key
from service.audit.rows import AuditRow
from service.domain.errors import Conflict, Unavailable

ENTRIES: Final = "entries.ndjson"
BODIES: Final = "bodies.ndjson"
PROOFS: Final = "proofs.ndjson"
CHECKPOINTS: Final = "checkpoints.txt"
KEYS: Final = "keys.txt"
_SCRIPT: Final = Path(__file__).parent / "standalone" / "verify.py"
_SPKI: Final = bytes.fromhex("302a300506032b6570032100")
"""What comes before the 32 bytes of an Ed25519 key in a PEM file (RFC 8410)."""

Prove = Callable[[int, int], Sequence[bytes]]
"""Gives the inclusion proof of (seq, size)."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into an export.

    Attributes:
        origin: the name of the log.
        rows: the entries, in order; all of them, or with ``prove`` only some.
        notes: the signed checkpoints, in order of size; none is about more than the log has.
        keys: the public keys that signed them, as text.
        bodies: whether the texts go with them.
        prove: for a part of the log, makes the proof of each entry.
    """

    origin: str
    rows: Iterable[AuditRow]
    notes: Sequence[str]
    keys: Sequence[str]
    bodies: bool = False
    prove: Prove | None = None


def write_folder(out: Path, contents: Contents) -> int:
    """Write an export and return how many entries it has; ``out`` is there whole, or not at all.

    Raises:
        Conflict: ``out`` exists and is not an empty folder.
        Unavailable: the disk refuses.
    """
    with _appearing(out) as folder:
        count = _write_rows(folder, contents)
        _write(folder / CHECKPOINTS, "\n".join(contents.notes))
        _write(folder / KEYS, "".join(f"{key}\n" for key in contents.keys))
        for text in contents.keys:
            key = parse_verifier_key(text)
            _write(folder / f"key-{key.key_id.hex()}.pem", _pem(key))
        _write(folder / "VERIFY.md", guide(_about(contents, count)))
        _write(folder / "verify.py", _SCRIPT.read_text(encoding="utf-8"))
    return count


def body_lines(row: AuditRow) -> Iterator[bytes]:
    """Return the texts of an entry as lines of ``bodies.ndjson``, by name."""
    for name, body in sorted(row.readable().items()):
        record = {"seq": row.seq, "name": name, "salt": body.salt.hex(), "text": body.text}
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        # Damaged bytes are kept as lone surrogates; written as \udcxx, JSON reads them back.
        yield line.encode("utf-8", "backslashreplace") + b"\n"


def signed_sizes(notes: Sequence[str]) -> list[int]:
    """Return the sizes that checkpoints are about, without looking at their signatures."""
    return [parse_checkpoint(note_text(note)).size for note in notes]


def _write_rows(folder: Path, contents: Contents) -> int:
    count = 0
    last = max(signed_sizes(contents.notes), default=0)
    with (
        (folder / ENTRIES).open("wb") as entries,
        _maybe(folder / BODIES, wanted=contents.bodies) as bodies,
        _maybe(folder / PROOFS, wanted=contents.prove is not None) as proofs,
    ):
        for row in contents.rows:
            entries.write(row.entry + b"\n")
            if bodies is not None:
                bodies.writelines(body_lines(row))
            if proofs is not None and contents.prove is not None:
                proofs.write(_proof_line(row.seq, last, contents.prove))
            count += 1
    return count


def _proof_line(seq: int, size: int, prove: Prove) -> bytes:
    """Return a proof; an entry that is later than the last checkpoint has none yet."""
    signed = seq < size
    path = [node.hex() for node in prove(seq, size)] if signed else []
    record = {"seq": seq, "size": size if signed else None, "path": path}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _about(contents: Contents, count: int) -> About:
    whole = contents.prove is None
    if not contents.notes:
        return About(contents.origin, count, whole, contents.bodies)
    sizes = signed_sizes(contents.notes)
    place = sizes.index(max(sizes))
    before = "\n".join([*contents.notes[:place], ""]) if place else ""
    first = before.count("\n") + 1
    last = first + note_text(contents.notes[place]).count("\n") - 1
    return About(contents.origin, count, whole, contents.bodies, sizes[place], first, last)


def _pem(key: VerifierKey) -> str:
    encoded = base64.b64encode(_SPKI + key.public).decode("ascii")
    return f"-----BEGIN PUBLIC KEY-----\n{encoded}\n-----END PUBLIC KEY-----\n"


@contextmanager
def _maybe(path: Path, *, wanted: bool) -> Iterator[IO[bytes] | None]:
    if not wanted:
        yield None
        return
    with path.open("wb") as file:
        yield file


@contextmanager
def _appearing(out: Path) -> Iterator[Path]:
    """Give a folder beside ``out`` that takes its name at the end, and is gone on an error."""
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise Conflict(f"{out} exists and is not an empty folder.")
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise Unavailable("export", f"cannot write to {out}: {error.strerror}") from error
    try:
        yield made
        _flush(made)
        made.replace(out)
        sync_folder(out.parent)
    except VerificationError as error:
        raise Unavailable("export", f"a checkpoint cannot be read: {error}") from error
    except OSError as error:
        raise Unavailable("export", f"cannot write {out}: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _flush(folder: Path) -> None:
    for path in folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    sync_folder(folder)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")

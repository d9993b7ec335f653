"""Asking a process of its own to search our files."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.adapters.db.columns import fold
from service.adapters.residue import scan
from service.domain.errors import Unavailable
from service.ports.erasure import Places, Wanted

DEPENDENCY: Final = "file search"
_SECONDS: Final = 600.0
_BESIDE: Final = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Folders:
    """Where our files are.

    Attributes:
        database: the database file.
        data: the data directory.
        index: the folder of the vector index.
        keys: the key directory.
        skipped: files and folders that hold no text about a person, or that are out of reach.
    """

    database: Path
    data: Path
    index: Path
    keys: Path
    skipped: tuple[Path, ...] = ()


class FileResidue:
    """Implements ``Residue``."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def search(self, wanted: Wanted) -> Places:
        """Return what is left; raises ``Unavailable`` if the files cannot be searched."""
        answer = _run(self._asked(wanted))
        return Places(
            free_space=_named(wanted.texts, answer["unused"]),
            write_ahead_log=_named(wanted.texts, answer["log"]),
            index=int(answer["index"]),
            keys=int(answer["keys"]),
            elsewhere=_named(wanted.texts, answer["other"]),
        )

    def _asked(self, wanted: Wanted) -> dict[str, object]:
        folders = self._folders
        own = [folders.database.with_name(folders.database.name + end) for end in _BESIDE]
        roots = [(folders.data, "other"), (folders.index, "index"), (folders.keys, "keys")]
        apart = (*own, *folders.skipped)
        return {
            "database": str(folders.database.absolute()),
            "roots": [(str(root.absolute()), kind) for root, kind in roots],
            "skipped": [str(path.absolute()) for path in (*apart, folders.index)],
            "needles": [
                (number, base64.b64encode(needle).decode())
                for number, text in enumerate(wanted.texts)
                for needle in spellings(text)
            ],
            "ids": list(wanted.ids),
        }


def spellings(text: str) -> list[bytes]:
    """Return the bytes that a text can be stored as: itself, folded, and within JSON."""
    forms = (
        text,
        fold(text),
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
    )
    return list(dict.fromkeys(form.encode("utf-8", "surrogatepass") for form in forms))


def _run(asked: dict[str, object]) -> dict[str, Any]:
    command = [sys.executable, "-I", str(Path(scan.__file__))]
    try:
        done = subprocess.run(  # noqa: S603 - our own script, with our own interpreter
            command,
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise Unavailable(DEPENDENCY, f"failed: {type(error).__name__}") from None
    return answer


def _named(texts: Sequence[str], numbers: Iterable[int]) -> tuple[str, ...]:
    return tuple(texts[number] for number in numbers)

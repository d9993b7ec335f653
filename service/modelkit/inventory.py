"""What the command line shows about models: plain data, printed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from service.adapters.onnx.manifest import (
    FOLDER_MANIFEST,
    PACKAGED,
    ModelEntry,
    file_sha256,
    locate,
    read_manifest,
)
from service.domain.errors import Unavailable


@dataclass(frozen=True, slots=True)
class ListedModel:
    """One model as it would be loaded."""

    model_id: str
    role: str
    source: str
    revision: str
    licence: str
    digest: str


@dataclass(frozen=True, slots=True)
class VerifiedFile:
    """One file of a model; ``problem`` is empty where it matches the manifest."""

    model_id: str
    part: str
    path: str
    sha256: str
    problem: str


def list_models(folder: Path | None = None) -> list[ListedModel]:
    """Return the packaged models, or those of an exported folder.

    Raises:
        Unavailable: the manifest cannot be read; names it.

    """
    return [
        ListedModel(e.model_id, e.role, e.source, e.revision, e.licence, e.identity().digest)
        for e in _entries(folder)
    ]


def verify_models(folder: Path | None = None) -> list[VerifiedFile]:
    """Return every file with what is wrong with it; never stops at the first problem.

    Raises:
        Unavailable: the manifest cannot be read; names it.

    """
    return [
        _verified(entry, index) for entry in _entries(folder) for index in range(len(entry.files))
    ]


def _entries(folder: Path | None) -> tuple[ModelEntry, ...]:
    return read_manifest(folder / FOLDER_MANIFEST if folder else PACKAGED)


def _verified(entry: ModelEntry, index: int) -> VerifiedFile:
    file, problem, place = entry.files[index], "", entry.files[index].path
    try:
        path = locate(entry, file)
        place = str(path)
        found = file_sha256(path)
        if found != file.sha256:
            problem = f"sha256 is {found}"
    except Unavailable as error:
        problem = error.detail
    except OSError as error:
        problem = f"cannot be read ({error})"
    return VerifiedFile(entry.model_id, file.part, place, file.sha256, problem)

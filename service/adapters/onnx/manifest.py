"""What each model is made of, and the check that its files are exactly those.

A manifest is a JSON list of entries. The packaged one lies beside this module and finds its files
in installed packages; an exported model has a folder with its own ``manifest.json`` and its files
beside that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from service.domain.errors import Unavailable
from service.ports.models import ModelIdentity

PACKAGED = Path(__file__).parent / "data" / "manifest.json"
FOLDER_MANIFEST = "manifest.json"
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file: its part in the model, where it lies and what it must contain."""

    part: str  # graph, tokenizer or head
    package: str | None  # None: beside the manifest
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model of a manifest."""

    model_id: str
    role: str  # nli, embedder or toxicity
    kind: str  # the way it is run, see service.adapters.onnx.loading
    source: str
    revision: str
    licence: str
    window: int  # most tokens of one input
    batch: int  # most inputs of one run; 1 where a graph's result depends on the batch
    labels: tuple[str, ...]  # order of the output's classes; empty where there are none
    files: tuple[ModelFile, ...]
    folder: Path  # where files without a package lie

    def identity(self) -> ModelIdentity:
        """Return the identity: a digest over the entry, which holds every file's hash."""
        content = {
            "id": self.model_id,
            "role": self.role,
            "kind": self.kind,
            "revision": self.revision,
            "window": self.window,
            "labels": list(self.labels),
            "files": {f.part: f.sha256 for f in self.files},
        }
        digest = hashlib.sha256(
            json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        ).hexdigest()
        return ModelIdentity(self.model_id, self.role, f"sha256:{digest}")


def read_manifest(path: Path = PACKAGED) -> tuple[ModelEntry, ...]:
    """Return the entries of a manifest file.

    Raises:
        Unavailable: the file is missing or is no manifest; names it.

    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["models"]
        return tuple(_entry(row, path.parent) for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable("model manifest", f"{path}: {error!r}") from error


def _entry(row: dict[str, object], folder: Path) -> ModelEntry:
    files = row["files"]
    labels = row["labels"]
    if not isinstance(files, list) or not isinstance(labels, list):
        raise TypeError("files and labels must be lists")
    return ModelEntry(
        model_id=str(row["id"]),
        role=str(row["role"]),
        kind=str(row["kind"]),
        source=str(row["source"]),
        revision=str(row["revision"]),
        licence=str(row["licence"]),
        window=int(str(row["window"])),
        batch=int(str(row["batch"])),
        labels=tuple(str(label) for label in labels),
        files=tuple(ModelFile(f["part"], f.get("package"), f["path"], f["sha256"]) for f in files),
        folder=folder,
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content as hex."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def locate(entry: ModelEntry, file: ModelFile) -> Path:
    """Return where a file should lie.

    Raises:
        Unavailable: its package is not installed.

    """
    if file.package is None:
        return entry.folder / file.path
    spec = find_spec(file.package)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(
            f"{entry.role} model", f"{file.path}: the package {file.package} is not installed"
        )
    return Path(spec.submodule_search_locations[0]) / file.path


def verified_files(entry: ModelEntry, parts: Sequence[str] | None = None) -> dict[str, Path]:
    """Return every part's path (or only those of ``parts``), after checking each file's hash.

    Raises:
        Unavailable: a file is missing or differs from the manifest; names the file.

    """
    paths = {}
    for file in entry.files:
        if parts is not None and file.part not in parts:
            continue
        path = locate(entry, file)
        try:
            found = file_sha256(path)
        except OSError as error:
            raise Unavailable(f"{entry.role} model", f"{path}: cannot be read ({error})") from error
        if found != file.sha256:
            raise Unavailable(
                f"{entry.role} model", f"{path}: sha256 is {found}, the manifest says {file.sha256}"
            )
        paths[file.part] = path
    return paths

"""Data sets in a folder, and what to say when they are not there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


class MissingDataError(Exception):
    """A data set is not where it should be."""


def read_lines(data: Path | None, name: str) -> list[dict[str, Any]]:
    """Return the rows of a gzipped JSON-lines file; raises ``MissingDataError``."""
    with gzip.open(_there(data, name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def read_json(data: Path | None, name: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return the value in a gzipped JSON file; raises ``MissingDataError``."""
    with gzip.open(_there(data, name), "rt", encoding="utf-8") as text:
        return json.load(text)


def _there(data: Path | None, name: str) -> Path:
    if data is None:
        raise MissingDataError(f"{name} (no data folder was given)")
    if not data.is_dir():
        raise MissingDataError(f"{name} (there is no folder {data.name})")
    if not (data / name).is_file():
        raise MissingDataError(name)
    return data / name

"""The service without its models, for tests that only start and stop it."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from service.bootstrap import Parts
from service.domain.errors import Unavailable
from service.settings import Settings


def settings_in(folder: Path) -> Settings:
    """Return settings that keep everything in a folder."""
    return Settings(
        _env_file=None, data_dir=folder / "data", key_dir=folder / "keys", log_level="error"
    )


def bare_parts() -> Parts:
    """Return parts that cannot be loaded."""
    return Parts(nli=_missing, embedder=_missing, language=_missing)


def _missing() -> NoReturn:
    raise Unavailable("model", "left out")

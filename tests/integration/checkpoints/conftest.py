from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from service.bootstrap import Parts
from service.settings import Settings
from tests.integration.checkpoints.places import Place

MakePlace = Callable[..., Place]


@pytest.fixture
def make_place(tmp_path: Path, parts: Parts) -> MakePlace:
    def make(**given: object) -> Place:
        folders = {"data_dir": tmp_path / "data", "key_dir": tmp_path / "keys"}
        return Place(Settings(_env_file=None, **{**folders, **given}), parts)

    return make


@pytest.fixture
def place(make_place: MakePlace) -> Place:
    return make_place()

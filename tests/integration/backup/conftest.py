from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.bootstrap import Parts
from tests.conftest import make_settings
from tests.integration.backup.places import Place, fill


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, parts: Parts) -> Iterator[Place]:
    """An installation with two users; tests work on copies of it."""
    made = Place(make_settings(tmp_path_factory.mktemp("filled")), parts)
    with made.serving() as client:
        fill(client)
    yield made


@pytest.fixture
def place(filled: Place, tmp_path: Path) -> Place:
    """An installation with two users that does not run."""
    return filled.copied(tmp_path)

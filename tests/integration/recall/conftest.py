"""A store of memories with the real models."""

import pytest

from service.evaluation.recall_store import CaseStore


@pytest.fixture
def store(tmp_path, parts):
    opened = CaseStore(tmp_path, parts.embedder(), parts.nli())
    yield opened
    opened.close()


@pytest.fixture
def texts():
    def texts(recalled) -> list[str]:
        return [a.hit.memory.text for a in recalled.answers]

    return texts

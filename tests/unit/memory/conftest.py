"""A memory to change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.domain.digests import sealed, text_digest
from service.domain.memory import Memory, MemoryStatus, MemoryType, Origin, Owner, Triple

NOW = datetime(2026, 11, 29, 17, 0, tzinfo=UTC)


@pytest.fixture
def memory():
    return sealed(
        Memory(
            id="mem_1",
            owner=Owner("sub_1", "ana", "agent", "session"),
            text="The user lives in Rome.",
            type=MemoryType.FACT,
            triple=Triple("user", "home", "Rome"),
            importance=0.6,
            status=MemoryStatus.ACTIVE,
            origin=Origin("turn_1", "user", "I live in Rome", 0, 14, text_digest("I live in Rome")),
            observed_at=NOW,
            recorded_at=NOW,
            updated_at=NOW,
            verdict="STORE",
            decision_id="chk_1",
            policy_fingerprint="p",
            content_hash="",
            state_hash="",
            metadata={"n": 1.5},
        )
    )

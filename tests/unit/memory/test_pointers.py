"""Evidence pointers."""

from __future__ import annotations

from datetime import date

import pytest

from service.domain.errors import InvalidInput
from service.domain.pointers import check_pointer, said


@pytest.mark.parametrize(
    "pointer",
    [
        "repo://src/app.py#L40-L82",
        "repo://README.md#L1",
        "https://example.org/a/b?c=d#e",
        "http://localhost:8000/x",
        "owner/repo#12",
        "ABC-123",
        "user said 2026-11-29",
        said("assistant", date(2026, 1, 2)),
    ],
)
def test_well_formed(pointer):
    assert check_pointer(pointer) == pointer


@pytest.mark.parametrize(
    "pointer",
    [
        "",
        "trust me",
        "repo://a.py",
        "repo://a.py#L9-L3",
        "repo://a.py#L0",
        "repo://../secret#L1",
        "repo://a/../b#L1",
        "https://user:password@example.org/",
        "https://example.org/a b",
        "javascript:alert(1)",
        "ftp://example.org/a",
        "owner/repo#0",
        "abc-1",
        "user said 2026-02-30",
        "god said 2026-02-03",
        "user said 2026-11-29\n",
        "https://example.org/" + "a" * 500,
    ],
)
def test_malformed(pointer):
    with pytest.raises(InvalidInput, match="evidence"):
        check_pointer(pointer)

"""Any number of values as one parameter, so that a statement about them is compiled once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, select


def listed(name: str) -> Any:  # noqa: ANN401 - a Select
    """Return a parameter for any number of texts or numbers, given as ``json_list`` writes them."""
    return select(func.json_each(bindparam(name)).table_valued("value").c.value)


def json_list(values: Sequence[str] | Sequence[int]) -> str:
    """Return texts or numbers as the value of a parameter that is ``listed``."""
    return json.dumps(list(values), ensure_ascii=False)

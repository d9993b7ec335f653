"""Lists that are read part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How much of a list, and where to go on (``cursor`` is a ``Page.next_cursor``)."""

    limit: int = 50
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One part of a list; ``total`` counts the whole list under the same filter."""

    items: tuple[T, ...]
    next_cursor: str | None
    total: int

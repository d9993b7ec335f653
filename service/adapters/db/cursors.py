"""Opaque positions in a list."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import TypeVar

from service.domain.errors import InvalidInput
from service.ports.paging import Page, PageRequest

MAX_LIMIT = 200
WIDTH = 5  # bytes of a position: eight characters, without padding

Item = TypeVar("Item")


def position(page: PageRequest) -> int | None:
    """Return where the page starts: only rows before this number belong to it."""
    if not 1 <= page.limit <= MAX_LIMIT:
        raise InvalidInput("limit", f"must be between 1 and {MAX_LIMIT}")
    if page.cursor is None:
        return None
    try:
        data = base64.b32hexdecode(page.cursor)
    except ValueError:
        data = b""
    if len(data) != WIDTH:
        raise InvalidInput("cursor", "is not one that a list returned")
    return int.from_bytes(data, "big")


def cut(
    items: Sequence[Item], page: PageRequest, total: int, key: Callable[[Item], int]
) -> Page[Item]:
    """Make a page of at most ``limit`` items out of a query for one more."""
    kept = tuple(items[: page.limit])
    more = len(items) > page.limit
    return Page(kept, _encode(key(kept[-1])) if more else None, total)


def _encode(number: int) -> str:
    return base64.b32hexencode(number.to_bytes(WIDTH, "big")).decode()

"""Query parameters of every list, and its page."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from service.domain.errors import InvalidInput
from service.http.schemas.common import clean_text
from service.ports.storage import PageRequest

_DEFAULT, _MOST, _CURSOR_LIMIT = 50, 200, 512


async def _page(
    limit: Annotated[int, Query(ge=1, le=_MOST, description="Items per page.")] = _DEFAULT,
    cursor: Annotated[
        str | None,
        Query(min_length=1, max_length=_CURSOR_LIMIT, description="`next_cursor` of a page."),
    ] = None,
) -> PageRequest:
    return PageRequest(limit, None if cursor is None else query_text("cursor", cursor))


def query_text(field: str, text: str) -> str:
    """Return a query parameter's text in NFC; raises ``InvalidInput`` naming it."""
    try:
        return clean_text(text)
    except ValueError as error:
        raise InvalidInput(field, str(error)) from None


PageDep = Annotated[PageRequest, Depends(_page)]

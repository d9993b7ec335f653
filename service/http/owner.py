"""Whose memory a request is about: a ``user_id`` is never optional where memory is touched."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query

from service.domain.errors import InvalidInput
from service.http.paging import query_text

_DESCRIPTION = "Whose memory it is."


async def _user(
    user_id: Annotated[str, Query(min_length=1, max_length=128, description=_DESCRIPTION)],
) -> str:
    return _filled(user_id)


async def _maybe_user(
    user_id: Annotated[
        str | None, Query(min_length=1, max_length=128, description=_DESCRIPTION)
    ] = None,
) -> str | None:
    return None if user_id is None else _filled(user_id)


def user_of(query: str | None, body: str | None) -> str:
    """Return the user named in the query or the body; raises ``InvalidInput`` without one."""
    if query is not None and body is not None and query != body:
        raise InvalidInput("user_id", "is one in the query and another in the body")
    found = query if query is not None else body
    if found is None:
        raise InvalidInput("user_id", "is required")
    return found


def _filled(user_id: str) -> str:
    if not user_id.strip():
        raise InvalidInput("user_id", "must not be empty")
    return query_text("user_id", user_id)


UserDep = Annotated[str, Depends(_user)]
MaybeUserDep = Annotated[str | None, Depends(_maybe_user)]

"""Answers that are kept by Idempotency-Key, and their replay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel
from starlette.responses import Response

from service.ports.storage import StoredAnswer
from service.usecases.once import Once

A = TypeVar("A")
_JSON = "application/json"


def once(
    key: str | None, body: str, render: Callable[[A], tuple[int, BaseModel]]
) -> Once[A] | None:
    """Return what a use case needs to answer a key once, or ``None`` without a key."""
    if key is None:
        return None
    digest = hashlib.sha256(body.encode()).hexdigest()

    def kept(answer: A) -> tuple[int, bytes]:
        status, model = render(answer)
        return status, _bytes(model)

    return Once(key, digest, kept)


def respond(answer: A | StoredAnswer, render: Callable[[A], tuple[int, BaseModel]]) -> Response:
    """Return the response for a fresh answer, or the stored one again."""
    if isinstance(answer, StoredAnswer):
        headers = {"Idempotency-Replayed": "true"}
        return Response(answer.body, answer.status, headers, _JSON)
    status, model = render(answer)
    return Response(_bytes(model), status, media_type=_JSON)


def _bytes(model: BaseModel) -> bytes:
    return model.model_dump_json().encode()

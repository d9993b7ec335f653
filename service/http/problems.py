"""Which errors each operation documents in OpenAPI."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from service.http.errors import MEDIA_TYPE

_ALWAYS = (401, 403, 421)
_SCHEMA = {"$ref": "#/components/schemas/Problem"}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for these statuses, and for those that any operation has."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
        }
        for status in sorted({*statuses, *_ALWAYS})
    }

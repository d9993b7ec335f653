"""Errors as RFC 9457 problems: one table, and nothing of the inside in an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from service.domain import errors

MEDIA_TYPE = "application/problem+json"
_NAME_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of error is answered."""

    status: int
    slug: str
    title: str


PROBLEMS: Mapping[type[errors.GroundkeeperError], Kind] = {
    errors.GroundkeeperError: Kind(500, "internal", "Internal error"),
    errors.InvalidInput: Kind(422, "invalid-input", "Invalid input"),
    errors.TooLarge: Kind(413, "too-large", "Too large"),
    errors.NotFound: Kind(404, "not-found", "Not found"),
    errors.Conflict: Kind(409, "conflict", "Conflict"),
    errors.IdempotencyMismatch: Kind(409, "idempotency-mismatch", "Idempotency-Key reused"),
    errors.Unauthenticated: Kind(401, "unauthenticated", "Not authenticated"),
    errors.Forbidden: Kind(403, "forbidden", "Not allowed"),
    errors.Unavailable: Kind(503, "unavailable", "Not available"),
    errors.Damaged: Kind(503, "damaged", "Stored data damaged"),
    errors.Overloaded: Kind(503, "overloaded", "Too busy"),
    errors.ReadOnly: Kind(503, "read-only", "Read only"),
}
"""Every class of ``service.domain.errors`` has its row here; a test checks it."""

INTERNAL = PROBLEMS[errors.GroundkeeperError]
_MALFORMED = Kind(400, "malformed", "Malformed request")


def problem(
    kind: Kind,
    detail: str,
    request_id: str,
    *,
    fields: Iterable[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer for an error; ``fields`` are (name, message) pairs."""
    content = {
        "type": f"/problems/{kind.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": _printable(detail),
        "errors": [{"field": _printable(n), "message": _printable(m)} for n, m in fields],
        "request_id": request_id,
    }
    body = json.dumps(content, ensure_ascii=False).encode()
    return Response(body, kind.status, dict(headers or {}), MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(errors.GroundkeeperError, on_domain_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_exception)


async def on_domain_error(request: Request, error: Exception) -> Response:
    """Answer an error that the service raised on purpose."""
    kind = next(PROBLEMS[c] for c in type(error).__mro__ if c in PROBLEMS)
    fields = []
    detail = str(error)
    if isinstance(error, errors.InvalidInput):
        fields = [(error.field.removeprefix("body."), error.message)]
        detail = error.message if not error.field else ": ".join(fields[0])
    return problem(kind, detail, _id(request), fields=fields, headers=_headers(error))


async def on_validation_error(request: Request, error: Exception) -> Response:
    """Answer a request whose shape is wrong, naming each field."""
    found: list[Any] = list(error.errors()) if isinstance(error, RequestValidationError) else []
    if any(e["type"] == "json_invalid" for e in found):
        return problem(_MALFORMED, "The body is not valid JSON.", _id(request))
    fields = [(_field(e["loc"]), e["msg"].removeprefix("Value error, ")) for e in found]
    detail = "; ".join(f"{name}: {message}" if name else message for name, message in fields[:3])
    return problem(PROBLEMS[errors.InvalidInput], detail, _id(request), fields=fields)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """Answer what the router refuses: an unknown path, a method, a body that cannot be read."""
    status = error.status_code if isinstance(error, HTTPException) else INTERNAL.status
    headers = error.headers if isinstance(error, HTTPException) else None
    if status == _MALFORMED.status:
        return problem(_MALFORMED, "The body is not valid UTF-8 JSON.", _id(request))
    title = HTTPStatus(status).phrase
    kind = Kind(status, title.lower().replace(" ", "-"), title)
    return problem(kind, f"{title}.", _id(request), headers=headers)


def _headers(error: Exception) -> dict[str, str]:
    if isinstance(error, errors.Unauthenticated):
        return {"WWW-Authenticate": 'Bearer realm="groundkeeper"'}
    if isinstance(error, errors.Unavailable):
        return {"Retry-After": str(getattr(error, "retry_after", 5))}
    return {}


def _field(place: tuple[int | str, ...]) -> str:
    inner = place[1:] if place and place[0] in ("body", "query", "path", "header") else place
    return ".".join(str(part)[:_NAME_LIMIT] for part in inner)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _id(request: Request) -> str:
    return str(request.scope.get("request_id", ""))

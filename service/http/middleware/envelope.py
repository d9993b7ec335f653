"""The outermost layer: request id, security headers, one log line, metrics, the last resort."""

from __future__ import annotations

import re
import secrets
import time

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.errors import INTERNAL, problem
from service.http.services import Metrics

_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_PAGES = ("/", "/docs")
_PROBES = ("/health", "/ready", "/metrics")
_ERROR = 400
_CONTENT = "default-src 'none'; frame-ancestors 'none'"
_PAGE_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_log = structlog.get_logger("groundkeeper.http")


class Envelope:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["request_id"] = _request_id(scope)
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self._answer(scope, receive, _Answer(send, scope))

    async def _answer(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        started = time.perf_counter()
        try:
            await self._app(scope, receive, answer)
        except Exception:  # noqa: BLE001 - the last resort: whatever it is, the client gets a 500
            _log.exception("request failed", route=_route(scope))
            if not answer.status:
                failed = problem(INTERNAL, "Something went wrong.", scope["request_id"])
                await failed(scope, receive, answer)
        seconds = time.perf_counter() - started
        self._metrics.answered(_method(scope), _route(scope), answer.status, seconds)
        log = _log.debug if _route(scope) in _PROBES and answer.status < _ERROR else _log.info
        log(
            "request",
            method=_method(scope),
            route=_route(scope),
            status=answer.status,
            ms=round(seconds * 1000, 1),
        )


class _Answer:
    """Sends on, adding headers and remembering the status."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self._send = send
        self._scope = scope
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-ID"] = self._scope["request_id"]
            for name, value in _HEADERS.items():
                headers[name] = value
            page = self._scope["path"] in _PAGES
            headers.setdefault("Content-Security-Policy", _PAGE_CONTENT if page else _CONTENT)
            headers.setdefault("Cache-Control", "no-store")
        await self._send(message)


def _request_id(scope: Scope) -> str:
    sent = Headers(scope=scope).get("x-request-id", "")
    return sent if _ID.fullmatch(sent) else f"req_{secrets.token_hex(12)}"


def _route(scope: Scope) -> str:
    """Return the route's template: a path can hold a user's id, its template cannot."""
    route = scope.get("route")
    return str(getattr(route, "path", "unmatched"))


def _method(scope: Scope) -> str:
    known = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
    return scope["method"] if scope["method"] in known else "other"

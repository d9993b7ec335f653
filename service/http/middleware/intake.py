"""What is checked before a body is parsed: host name, content type, size."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.domain.errors import TooLarge
from service.http.errors import PROBLEMS, Kind, problem

_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_MISDIRECTED = Kind(421, "misdirected", "Misdirected request")
_MEDIA = Kind(415, "unsupported-media-type", "Unsupported media type")


class Intake:
    """Refuses requests that must not reach a parser.

    ``hosts`` are the names to answer to, or ``None`` for every name. The check stops a web page
    from reaching a server without keys through a name that it makes point to this machine.
    """

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] | None, limit: int) -> None:
        self._app = app
        self._hosts = hosts
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is not None:
            kind, detail = refusal
            await problem(kind, detail, scope["request_id"])(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] in _WITH_BODY:
            await self._with_body(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[Kind, str] | None:
        headers = Headers(scope=scope)
        if self._hosts is not None and _name(headers.get("host", "")) not in self._hosts:
            return _MISDIRECTED, "This server does not answer to that host name."
        if scope["method"] in _WITH_BODY and not _is_json(headers.get("content-type", "")):
            return _MEDIA, "Send Content-Type: application/json."
        return None

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = None if self._announces_too_much(scope) else await self._read(receive)
        if body is None:
            kind = PROBLEMS[TooLarge]
            detail = f"The body is over the limit of {self._limit:,} bytes."
            refused = problem(
                kind,
                detail,
                scope["request_id"],
                fields=[("", detail)],
                headers={"Connection": "close"},
            )
            await refused(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    def _announces_too_much(self, scope: Scope) -> bool:
        length = Headers(scope=scope).get("content-length", "0")
        return length.isdecimal() and int(length) > self._limit

    async def _read(self, receive: Receive) -> bytes | None:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            part = message.get("body", b"")
            size += len(part)
            if size > self._limit:
                return None
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Mapping[str, object]] = [
        {"type": "http.request", "body": body, "more_body": False}
    ]

    async def again() -> Message:
        return dict(waiting.pop()) if waiting else await receive()

    return again


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_json(content_type: str) -> bool:
    media, _, rest = content_type.partition(";")
    charset = rest.strip().lower().removeprefix("charset=").strip('"')
    return media.strip().lower() == "application/json" and charset in ("", "utf-8", "utf8")

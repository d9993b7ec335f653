"""Logs: one JSON object per line on standard error; never a text, a key or a query."""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

_QUIET = ("uvicorn.access", "alembic", "sqlalchemy.engine", "httpx", "chromadb", "filelock")


def configure_logging(level: str) -> None:
    """Send our own and every library's log lines through one formatter."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        safe_traceback,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(number)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))


def safe_traceback(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Render where an exception came from, without its message: that may quote a request."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["exception"] = _frames(error)
    return event


def _frames(error: BaseException) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    current: BaseException | None = error
    while current is not None:
        found.append({"type": type(current).__qualname__, "at": _places(current.__traceback__)})
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )
    return found


def _places(tb: TracebackType | None) -> list[str]:
    return [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(tb)]

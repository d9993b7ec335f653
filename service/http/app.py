"""The application: routes, middleware and error handlers put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from service.http import errors
from service.http.middleware.envelope import Envelope
from service.http.middleware.intake import Intake
from service.http.routes import (
    adjudicate,
    attributes,
    audit,
    check,
    checkpoints,
    conflicts,
    erasures,
    export,
    lessons,
    memories,
    memory,
    operations,
    pages,
    policies,
    recall,
    report,
    reviews,
    scoring,
    users,
)
from service.http.schemas.common import Problem
from service.http.services import HttpOptions, Services, State
from service.http.workers import WorkerPool

_DESCRIPTION = """
Groundkeeper checks a fact against its source before an AI may remember it, and keeps a log that
shows when it was changed.

Errors are `application/problem+json` (RFC 9457). With API keys configured, send one as
`Authorization: Bearer …` or `X-API-Key`.
"""


_ROUTES = (
    check,
    scoring,
    adjudicate,
    memory,
    conflicts,
    memories,
    recall,
    reviews,
    lessons,
    attributes,
    erasures,
    users,
    policies,
    checkpoints,  # before audit, whose {seq} would take its path
    export,  # so, too
    report,
    audit,
    operations,
    pages,
)

_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""Nothing leaves the process; FastAPI's own log would quote requests."""


def http_app(
    services: Callable[[], AbstractAsyncContextManager[Services]], options: HttpOptions
) -> FastAPI:
    """Return the application; ``services`` is entered when it starts and left when it stops."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[State]:
        async with services() as started:
            workers = WorkerPool(threads=options.threads, queue=options.queue)
            yield State(services=started, options=options, workers=workers)

    app = FastAPI(
        title="Groundkeeper",
        version=operations.VERSION,
        description=_DESCRIPTION.strip(),
        license_info={"name": "Apache-2.0"},
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    for module in _ROUTES:
        app.include_router(module.router)
    pages.mount(app)
    errors.install(app)
    app.add_middleware(Intake, hosts=options.allowed_hosts, limit=options.limits.body)
    app.add_middleware(Envelope, metrics=options.metrics)
    _describe_problems(app)
    return app


def _describe_problems(app: FastAPI) -> None:
    """Add the schema of a problem, which answers refer to, and drop FastAPI's own."""
    make = app.openapi

    def openapi() -> dict[str, Any]:
        schema = make()
        schemas = schema["components"]["schemas"]
        schemas.update(_problem_schemas())
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way


def _problem_schemas() -> dict[str, Any]:
    whole = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    parts: dict[str, Any] = whole.pop("$defs")
    return {"Problem": whole, **parts}

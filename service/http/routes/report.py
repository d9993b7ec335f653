"""``GET /audit/report``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from service.http.dependencies import ReaderDep, ServicesDep, WorkersDep
from service.http.problems import documented
from service.http.schemas.common import Moment

router = APIRouter(prefix="/audit", tags=["audit"])
_CONTENT = {name: {"schema": {"type": "string"}} for name in ("text/html", "text/markdown")} | {
    "application/json": {"schema": {"type": "object"}}
}


@router.get(
    "/report",
    response_class=Response,
    responses={200: {"description": "The report.", "content": _CONTENT}, **documented(422, 503)},
    summary="Report on the log",
)
async def report(
    *,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
    form: Annotated[
        Literal["html", "md", "json"], Query(alias="format", description="How it is written.")
    ] = "html",
    since: Annotated[Moment | None, Query(description="Inclusive.")] = None,
    until: Annotated[Moment | None, Query(description="Exclusive.")] = None,
) -> Response:
    """Report on this tenant's decisions in a period, for somebody who has to judge them.

    Decisions by outcome and over time, reasons, blocked facts with their evidence, open reviews,
    which policy applied when, and what verifying the log found. Slow on a long log, one at a time.
    """
    rendering = services.renderings[form]

    def work() -> bytes:
        return rendering.render(services.report.run(scope, since, until))

    body = await workers.run_alone(work)
    headers = {"Content-Disposition": f'inline; filename="audit-report.{form}"'}
    if rendering.policy is not None:
        headers["Content-Security-Policy"] = rendering.policy
    return Response(body, 200, headers, rendering.media_type)

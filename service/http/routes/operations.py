"""``/health``, ``/ready`` and ``/metrics``."""

from __future__ import annotations

import importlib.metadata

from fastapi import APIRouter
from starlette.responses import Response

from service.http.dependencies import OptionsDep, ReaderDep, ServicesDep, WorkersDep
from service.http.problems import documented
from service.http.schemas.operations import HealthOut, ReadyOut, ready_out

router = APIRouter(tags=["operations"])
VERSION = importlib.metadata.version("groundkeeper")
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health", response_model=HealthOut, responses=documented(), summary="Is it alive?")
async def health() -> HealthOut:
    """Answer at once, whatever else is going on."""
    return HealthOut(version=VERSION)


@router.get(
    "/ready",
    response_model=ReadyOut,
    responses={503: {"model": ReadyOut, "description": "Not ready; the components say why"}},
    summary="Can it do its work?",
)
async def ready(services: ServicesDep, workers: WorkersDep) -> Response:
    """Say for each component whether it can serve."""
    report = await workers.run_alone(services.readiness.run)
    body = ready_out(report).model_dump_json()
    headers = {} if report.ready else {"Retry-After": "5"}
    return Response(body, 200 if report.ready else 503, headers, "application/json")


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **documented(503),
    },
    summary="Figures for Prometheus",
)
async def metrics(
    _scope: ReaderDep, services: ServicesDep, options: OptionsDep, workers: WorkersDep
) -> Response:
    """Return decisions, latencies, the depth of the queue, the log's size and its signing."""
    busy = workers.busy
    size = await workers.run(services.audit.size)
    options.metrics.measured(busy=busy, log_size=size)
    signing = await workers.run(services.checkpoints.state)
    options.metrics.signed(
        age_seconds=signing.age_seconds,
        uncovered=signing.uncovered,
        read_only=signing.refused is not None,
    )
    return Response(options.metrics.render(), media_type=_METRICS_TYPE)

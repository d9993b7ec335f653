"""``/erasures``: plan, confirm, and look at the receipt."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body, Path
from starlette.responses import Response

from service.domain.erasure import ErasureRecord
from service.http.dependencies import (
    AdminDep,
    IdempotencyDep,
    ReaderDep,
    ServicesDep,
    WorkersDep,
)
from service.http.once import once, respond
from service.http.problems import documented
from service.http.schemas.erasures import (
    ALL_EXAMPLE,
    CONFIRM_EXAMPLE,
    PLAN_EXAMPLE,
    ConfirmRequest,
    ErasureOut,
    PlanOut,
    PlanRequest,
    erasure_out,
    plan_out,
    to_command,
)
from service.usecases.erasure.plan import Planned

router = APIRouter(prefix="/erasures", tags=["erasure"])


@router.post(
    "/plan",
    response_model=PlanOut,
    responses=documented(400, 404, 409, 413, 415, 422, 503),
    summary="Say what an erasure would take",
)
async def plan_erasure(
    body: Annotated[
        PlanRequest,
        Body(
            openapi_examples={
                "some memories": {"value": PLAN_EXAMPLE},
                "everything of a user": {"value": ALL_EXAMPLE},
            }
        ),
    ],
    scope: AdminDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Erase nothing yet: list what goes, and what goes with it and needs consent.

    Confirm the plan by its hash within 24 hours; any change of the user's memory makes it stale.
    """
    command = to_command(body)
    kept = once(key, body.model_dump_json(), _planned)
    answer = await workers.run(lambda: services.erasure.plan.run(scope, command, kept))
    return respond(answer, _planned)


@router.post(
    "",
    status_code=201,
    response_model=ErasureOut,
    responses=documented(400, 404, 409, 413, 415, 422, 503),
    summary="Erase what was planned",
)
async def confirm_erasure(
    body: Annotated[ConfirmRequest, Body(openapi_examples={"a plan": {"value": CONFIRM_EXAMPLE}})],
    scope: AdminDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Delete for good what the plan names, and append tombstones to the log.

    The same plan again gives the same receipt. `incomplete` means that the rows are gone but a
    file could not be cleaned yet; the service goes on trying.
    """
    told = services.erasure.out_of_reach

    def render(record: ErasureRecord) -> tuple[int, ErasureOut]:
        return 201, erasure_out(record, told)

    kept = once(key, body.model_dump_json(), render)
    confirm, sha, consent = services.erasure.confirm, body.plan_sha256, body.allow_collateral
    answer = await workers.run(lambda: confirm.run(scope, sha, allow_collateral=consent, once=kept))
    if isinstance(answer, ErasureRecord):
        forget = partial(services.erasure.finisher.forget, scope.tenant, answer)
        workers.once_quiet(forget)  # requests that began before may remember texts once more
    return respond(answer, render)


@router.get(
    "/{erasure_id}",
    response_model=ErasureOut,
    responses=documented(404, 422, 503),
    summary="Read an erasure's receipt",
)
async def get_erasure(
    erasure_id: Annotated[str, Path(min_length=1, max_length=128)],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> ErasureOut:
    """Return the receipt; what is incomplete is tried again first."""
    found = await workers.run(lambda: services.erasure.confirm.get(scope, erasure_id))
    return erasure_out(found, services.erasure.out_of_reach)


def _planned(planned: Planned) -> tuple[int, PlanOut]:
    return 200, plan_out(planned)

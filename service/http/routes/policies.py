"""``/policies``."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from service.domain.policy import Policy
from service.http.dependencies import (
    AdminDep,
    IdempotencyDep,
    ReaderDep,
    ServicesDep,
    WorkersDep,
)
from service.http.once import once, respond
from service.http.paging import PageDep, query_text
from service.http.problems import documented
from service.http.schemas.policies import (
    EXAMPLE,
    LEGACY_EXAMPLE,
    DefaultRequest,
    DifferenceOut,
    DiffOut,
    PolicyListOut,
    PolicyOut,
    PolicyRequest,
    policy_out,
)
from service.ports.storage import StoredAnswer

router = APIRouter(prefix="/policies", tags=["policies"])
_REFERENCE = "A fingerprint, a name, or `name@version`."
Reference = Annotated[str, Path(min_length=1, max_length=130, description=_REFERENCE)]
ReferenceQuery = Annotated[str, Query(min_length=1, max_length=130, description=_REFERENCE)]


@router.get(
    "",
    response_model=PolicyListOut,
    responses=documented(422, 503),
    summary="List policies",
)
async def list_policies(
    scope: ReaderDep, services: ServicesDep, workers: WorkersDep, page: PageDep
) -> PolicyListOut:
    """List all versions, newest first; the built-in policy is always among them."""

    def work() -> PolicyListOut:
        found = services.policies.list(scope, page)
        default = services.policies.default(scope).fingerprint
        return PolicyListOut(
            items=[policy_out(p, default) for p in found.items],
            next_cursor=found.next_cursor,
            total=found.total,
        )

    return await workers.run(work)


@router.post(
    "",
    status_code=201,
    response_model=PolicyOut,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Add a policy version",
)
async def add_policy(
    body: Annotated[
        PolicyRequest,
        Body(
            openapi_examples={
                "a stricter policy": {"value": EXAMPLE},
                "a MiniEval policy": {"value": LEGACY_EXAMPLE},
            }
        ),
    ],
    scope: AdminDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Store an immutable version. Fields that are left out take the built-in policy's values."""

    def work() -> tuple[Policy | StoredAnswer, str]:
        default = services.policies.default(scope).fingerprint
        kept = once(key, body.model_dump_json(exclude_unset=True), _renderer(default))
        return services.policies.add(scope, body.body(), kept), default

    answer, default = await workers.run(work)
    return respond(answer, _renderer(default))


@router.get(
    "/diff",
    response_model=DiffOut,
    responses=documented(404, 422, 503),
    summary="Compare two policies",
)
async def diff_policies(
    a: ReferenceQuery,
    b: ReferenceQuery,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> DiffOut:
    """List the fields in which two policies differ, with both values."""
    first, second = query_text("a", a), query_text("b", b)
    found = await workers.run(lambda: services.policies.diff(scope, first, second))
    return DiffOut(a=first, b=second, differences=[DifferenceOut(**d) for d in found])


@router.put(
    "/default",
    response_model=PolicyOut,
    responses=documented(400, 404, 413, 415, 422, 503),
    summary="Choose the default policy",
)
async def set_default(
    body: Annotated[
        DefaultRequest,
        Body(openapi_examples={"the built-in policy": {"value": {"fingerprint": "default"}}}),
    ],
    scope: AdminDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> PolicyOut:
    """Make a policy the one that applies when a request names none. The log records it."""
    policy = await workers.run(lambda: services.policies.set_default(scope, body.fingerprint))
    return policy_out(policy, policy.fingerprint)


@router.get(
    "/{fingerprint}",
    response_model=PolicyOut,
    responses=documented(404, 422, 503),
    summary="Read a policy",
)
async def get_policy(
    fingerprint: Reference, scope: ReaderDep, services: ServicesDep, workers: WorkersDep
) -> PolicyOut:
    """Return one policy with exactly the body that its fingerprint covers."""
    reference = query_text("fingerprint", fingerprint)

    def work() -> PolicyOut:
        default = services.policies.default(scope).fingerprint
        return policy_out(services.policies.get(scope, reference), default)

    return await workers.run(work)


def _renderer(default: str) -> Any:  # noqa: ANN401 - a callable that both once() and respond() take
    def render(policy: Policy) -> tuple[int, PolicyOut]:
        return 201, policy_out(policy, default)

    return render

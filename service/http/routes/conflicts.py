"""``/memories/conflicts``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from service.http.dependencies import (
    IdempotencyDep,
    ReaderDep,
    ServicesDep,
    WorkersDep,
    WriterDep,
)
from service.http.once import once, respond
from service.http.owner import MaybeUserDep, UserDep, user_of
from service.http.paging import PageDep
from service.http.problems import documented
from service.http.schemas.conflicts import (
    MARK_EXAMPLE,
    RESOLVE_EXAMPLE,
    ConflictListOut,
    ConflictOut,
    MarkRequest,
    ResolveRequest,
    conflict_out,
)
from service.usecases.conflicts import Disagreement, Marking
from service.usecases.lineage import Which

router = APIRouter(prefix="/memories/conflicts", tags=["memory"])
_WRITES = documented(400, 404, 409, 413, 415, 422, 503)


@router.get(
    "",
    response_model=ConflictListOut,
    responses=documented(422, 503),
    summary="List disagreements",
)
async def list_conflicts(
    *,
    user_id: UserDep,
    status: Annotated[Literal["open", "all"], Query()] = "open",
    page: PageDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> ConflictListOut:
    """List a user's open conflicts, or all, newest first, with the memories they are about."""

    def work() -> ConflictListOut:
        found = services.conflicts.list(scope, user_id, page, open_only=status == "open")
        return ConflictListOut(
            items=[conflict_out(c) for c in found.items],
            next_cursor=found.next_cursor,
            total=found.total,
        )

    return await workers.run(work)


@router.post(
    "",
    status_code=201,
    response_model=ConflictOut,
    responses=_WRITES,
    summary="Mark a disagreement",
)
async def mark_conflict(
    *,
    body: Annotated[MarkRequest, Body(openapi_examples={"two homes": {"value": MARK_EXAMPLE}})],
    user: MaybeUserDep,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Say that two active memories cannot both be true; both are contested until it is resolved."""
    marking = Marking(
        user_id=user_of(user, body.user_id),
        first=body.first,
        second=body.second,
        reason=body.reason,
        confidence=float(body.confidence),
    )
    kept = once(key, f"{marking.user_id} {body.model_dump_json()}", _marked)
    answer = await workers.run(lambda: services.conflicts.mark(scope, marking, kept))
    return respond(answer, _marked)


@router.post(
    "/{conflict_id}/resolve",
    response_model=ConflictOut,
    responses=_WRITES,
    summary="Resolve a disagreement",
)
async def resolve_conflict(
    *,
    conflict_id: Annotated[str, Path(min_length=1, max_length=128)],
    body: Annotated[ResolveRequest, Body(openapi_examples={"asked": {"value": RESOLVE_EXAMPLE}})],
    user: MaybeUserDep,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Keep one of the two memories, which supersedes the other, or keep `both`."""
    which = Which(user_of(user, body.user_id), conflict_id)
    kept = once(key, f"{which.user_id} {body.model_dump_json()}", _resolved)
    answer = await workers.run(
        lambda: services.conflicts.resolve(scope, which, body.keep, body.reason, kept)
    )
    return respond(answer, _resolved)


def _marked(answer: Disagreement) -> tuple[int, ConflictOut]:
    return 201, conflict_out(answer)


def _resolved(answer: Disagreement) -> tuple[int, ConflictOut]:
    return 200, conflict_out(answer)

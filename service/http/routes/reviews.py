"""``/reviews``."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path
from starlette.responses import Response

from service.domain.memory import ReviewStatus
from service.http.dependencies import (
    IdempotencyDep,
    NeedsModels,
    ReaderDep,
    ServicesDep,
    WorkersDep,
    WriterDep,
)
from service.http.once import once, respond
from service.http.owner import MaybeUserDep
from service.http.paging import PageDep
from service.http.problems import documented
from service.http.schemas.reviews import (
    NOTE_EXAMPLE,
    NoteRequest,
    ReviewListOut,
    ReviewOut,
    review_out,
)
from service.usecases.reviews import Reviewed

router = APIRouter(prefix="/reviews", tags=["reviews"])
ReviewId = Annotated[str, Path(min_length=1, max_length=128)]
Note = Annotated[NoteRequest, Body(openapi_examples={"confirmed": {"value": NOTE_EXAMPLE}})]
_WRITES = documented(400, 404, 409, 413, 415, 422, 503)


@router.get(
    "",
    response_model=ReviewListOut,
    responses=documented(422, 503),
    summary="List the review queue",
)
async def list_reviews(
    *,
    user_id: MaybeUserDep,
    status: Literal["open", "approved", "rejected", "all"] = "open",
    page: PageDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> ReviewListOut:
    """List what waits for a person, newest first: the tenant's whole queue, or one user's."""
    wanted = None if status == "all" else ReviewStatus(status)

    def work() -> ReviewListOut:
        found = services.reviews.list(scope, user_id, wanted, page)
        return ReviewListOut(
            items=[review_out(r) for r in found.items],
            next_cursor=found.next_cursor,
            total=found.total,
        )

    return await workers.run(work)


@router.get(
    "/{review_id}",
    response_model=ReviewOut,
    responses=documented(404, 422, 503),
    summary="Read an item",
)
async def get_review(
    review_id: ReviewId,
    user_id: MaybeUserDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> ReviewOut:
    """Return one item of the queue."""
    found = await workers.run(lambda: services.reviews.get(scope, review_id, user_id))
    return review_out(found)


@router.post(
    "/{review_id}/approve",
    response_model=ReviewOut,
    responses=_WRITES,
    dependencies=[NeedsModels],
    summary="Let a fact pass",
)
async def approve(
    *,
    review_id: ReviewId,
    body: Note,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Remember a fact that waited; gate and adjudication run again on what is stored now."""
    kept = once(key, body.model_dump_json(), _render)
    answer = await workers.run(
        lambda: services.reviews.approve(scope, review_id, body.user_id, body.note, kept)
    )
    return respond(answer, _render)


@router.post(
    "/{review_id}/reject",
    response_model=ReviewOut,
    responses=_WRITES,
    summary="Refuse a fact",
)
async def reject(
    *,
    review_id: ReviewId,
    body: Note,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Close an item without remembering anything."""
    kept = once(key, body.model_dump_json(), _render)
    answer = await workers.run(
        lambda: services.reviews.reject(scope, review_id, body.user_id, body.note, kept)
    )
    return respond(answer, _render)


def _render(answer: Reviewed) -> tuple[int, ReviewOut]:
    return 200, review_out(answer)

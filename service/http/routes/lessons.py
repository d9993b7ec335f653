"""``/lessons``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from service.domain.memory import Lesson
from service.http.dependencies import (
    IdempotencyDep,
    ReaderDep,
    ServicesDep,
    WorkersDep,
    WriterDep,
)
from service.http.once import once, respond
from service.http.owner import MaybeUserDep
from service.http.paging import PageDep, query_text
from service.http.problems import documented
from service.http.schemas.lessons import (
    LESSON_EXAMPLE,
    LessonListOut,
    LessonOut,
    LessonRequest,
    lesson_out,
)
from service.usecases.lessons import LessonCommand

router = APIRouter(prefix="/lessons", tags=["lessons"])


@router.post(
    "",
    status_code=201,
    response_model=LessonOut,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Keep a lesson",
)
async def add_lesson(
    body: Annotated[
        LessonRequest, Body(openapi_examples={"for everybody": {"value": LESSON_EXAMPLE}})
    ],
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Keep what was learned, with evidence that can be looked up, and what it applies to."""
    command = LessonCommand(body.user_id, body.text, body.evidence, body.applies_to)
    kept = once(key, body.model_dump_json(), _render)
    answer = await workers.run(lambda: services.lessons.add(scope, command, kept))
    return respond(answer, _render)


@router.get(
    "",
    response_model=LessonListOut,
    responses=documented(422, 503),
    summary="List lessons",
)
async def list_lessons(
    *,
    user_id: MaybeUserDep,
    applies_to: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    page: PageDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> LessonListOut:
    """List the lessons for everybody and, with `user_id`, that user's own."""
    about = None if applies_to is None else query_text("applies_to", applies_to)

    def work() -> LessonListOut:
        found = services.lessons.list(scope, user_id, about, page)
        return LessonListOut(
            items=[lesson_out(x) for x in found.items],
            next_cursor=found.next_cursor,
            total=found.total,
        )

    return await workers.run(work)


def _render(lesson: Lesson) -> tuple[int, LessonOut]:
    return 201, lesson_out(lesson)

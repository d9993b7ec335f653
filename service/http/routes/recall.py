"""``POST /recall``, receipts and their verification."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from starlette.responses import Response

from service.domain.errors import InvalidInput, NotFound
from service.http.dependencies import (
    IdempotencyDep,
    NeedsModels,
    ReaderDep,
    ServicesDep,
    WorkersDep,
)
from service.http.once import once, respond
from service.http.problems import documented
from service.http.schemas.recall import (
    HISTORY_EXAMPLE,
    LESSON_EXAMPLE,
    RECALL_EXAMPLE,
    VERIFY_EXAMPLE,
    RecallRequest,
    RecallResponse,
    VerifyRequest,
    VerifyResponse,
    recall_command,
    recall_out,
    verify_out,
)
from service.ports.storage import Scope, StoredAnswer
from service.usecases.once import Once
from service.usecases.recall import RecallCommand, Recalled, RecallMemories

router = APIRouter(tags=["recall"])


@router.post(
    "/recall",
    response_model=RecallResponse,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Find what is known that answers a question",
    dependencies=[NeedsModels],
)
async def recall(
    *,
    body: Annotated[
        RecallRequest,
        Body(
            openapi_examples={
                "a question": {"value": RECALL_EXAMPLE},
                "with history": {"value": HISTORY_EXAMPLE},
                "lessons": {"value": LESSON_EXAMPLE},
            }
        ),
    ],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Return the memories that answer, best first; an empty list says why it is empty."""

    def render(recalled: Recalled) -> tuple[int, RecallResponse]:
        return 200, recall_out(recalled, body.user_id)

    command = recall_command(body)
    kept = once(key, body.model_dump_json(), render)
    answer = await workers.run(lambda: _run(services.recall, scope, command, kept))
    return respond(answer, render)


@router.post(
    "/recall/verify",
    responses=documented(400, 413, 415, 422, 503),
    summary="Run a receipt again",
    dependencies=[NeedsModels],
)
async def verify_receipt(
    *,
    body: Annotated[VerifyRequest, Body(openapi_examples={"a receipt": {"value": VERIFY_EXAMPLE}})],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> VerifyResponse:
    """Compare a receipt with what was stored when it was made; later memories change nothing."""
    found = await workers.run(lambda: services.receipts.verify(scope, body.receipt))
    return verify_out(found)


@router.get(
    "/recall/receipts/{receipt_id}",
    responses=documented(404, 422),
    summary="Read a receipt",
)
async def read_receipt(
    *, receipt_id: str, scope: ReaderDep, services: ServicesDep, workers: WorkersDep
) -> dict[str, Any]:
    """Return a receipt as it was handed out."""
    return dict(await workers.run(lambda: services.receipts.get(scope, receipt_id)))


def _run(
    use_case: RecallMemories,
    scope: Scope,
    command: RecallCommand,
    kept: Once[Recalled] | None,
) -> Recalled | StoredAnswer:
    try:
        return use_case.run(scope, command, kept)
    except NotFound as error:  # the policy is input here, not what was asked for
        raise InvalidInput("policy", str(error)) from error

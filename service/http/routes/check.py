"""``POST /check`` and ``POST /check/batch``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from service.domain.errors import InvalidInput, NotFound, TooLarge
from service.http.dependencies import (
    IdempotencyDep,
    NeedsModels,
    OptionsDep,
    ServicesDep,
    WorkersDep,
    WriterDep,
)
from service.http.once import once, respond
from service.http.problems import documented
from service.http.schemas.check import (
    BATCH_EXAMPLE,
    CONVERSATION_EXAMPLE,
    EXAMPLE,
    BatchRequest,
    BatchResponse,
    CheckRequest,
    CheckResponse,
)
from service.http.services import Metrics
from service.http.translate import to_batch, to_command, to_response
from service.ports.storage import Scope, StoredAnswer
from service.usecases.check import CheckAnswer, CheckCommand, CheckFacts
from service.usecases.once import Once

router = APIRouter(tags=["check"], dependencies=[NeedsModels])


@router.post(
    "/check",
    response_model=CheckResponse,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Check one fact against its source",
)
async def check(
    *,
    body: Annotated[
        CheckRequest,
        Body(
            openapi_examples={
                "one text": {"value": EXAMPLE},
                "a conversation": {"value": CONVERSATION_EXAMPLE},
            }
        ),
    ],
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Say whether this source justifies this fact, as stated, and record the decision."""
    commands = [to_command(body, options.limits)]

    def render(answers: list[CheckAnswer]) -> tuple[int, CheckResponse]:
        return 200, to_response(commands[0], answers[0])

    kept = once(key, body.model_dump_json(), render)
    answer = await workers.run(lambda: _run(services.check, scope, commands, kept))
    _count(options.metrics, answer)
    return respond(answer, render)


@router.post(
    "/check/batch",
    response_model=BatchResponse,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Check several facts at once",
)
async def check_batch(
    *,
    body: Annotated[BatchRequest, Body(openapi_examples={"two facts": {"value": BATCH_EXAMPLE}})],
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Check each item as ``POST /check`` would; all are recorded together, or none is."""
    commands = to_batch(body, options.limits)

    def render(answers: list[CheckAnswer]) -> tuple[int, BatchResponse]:
        pairs = zip(commands, answers, strict=True)
        return 200, BatchResponse(items=[to_response(c, a) for c, a in pairs])

    kept = once(key, body.model_dump_json(), render)
    answer = await workers.run(lambda: _run(services.check, scope, commands, kept, "items."))
    _count(options.metrics, answer)
    return respond(answer, render)


def _run(
    use_case: CheckFacts,
    scope: Scope,
    commands: Sequence[CheckCommand],
    kept: Once[list[CheckAnswer]] | None,
    where: str = "",
) -> list[CheckAnswer] | StoredAnswer:
    try:
        return use_case.run(scope, commands, kept)
    except NotFound as error:  # the policy is input here, not what was asked for
        raise InvalidInput(f"{where}policy", str(error)) from error
    except TooLarge as error:  # a model's own limit, in tokens, on what it calls the hypothesis
        raise TooLarge(f"{where}fact", error.message) from error


def _count(metrics: Metrics, answer: list[CheckAnswer] | StoredAnswer) -> None:
    if not isinstance(answer, StoredAnswer):
        for one in answer:
            metrics.decided(one.outcome.verdict.value, one.outcome.reason_code.value)

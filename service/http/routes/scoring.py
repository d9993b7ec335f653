"""``POST /evaluate`` and ``POST /hook``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from service.http.dependencies import (
    IdempotencyDep,
    NeedsModels,
    OptionsDep,
    ServicesDep,
    WorkersDep,
    WriterDep,
)
from service.http.inputs import as_input
from service.http.once import once, respond
from service.http.problems import documented
from service.http.schemas.scoring import (
    EVALUATE_EXAMPLE,
    HOOK_EXAMPLE,
    EvaluateRequest,
    EvaluateResponse,
    HookRequest,
    HookResponse,
    evaluate_out,
    hook_out,
)
from service.http.translate import to_command, to_response, within
from service.ports.storage import StoredAnswer
from service.usecases.check import CheckAnswer
from service.usecases.evaluate import EvaluateCommand, Evaluation

router = APIRouter(tags=["scoring"], dependencies=[NeedsModels])


@router.post(
    "/evaluate",
    response_model=EvaluateResponse,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Score an answer",
)
async def evaluate(
    *,
    body: Annotated[
        EvaluateRequest, Body(openapi_examples={"a wrong number": {"value": EVALUATE_EXAMPLE}})
    ],
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Say how faithful an answer is to its context, and how close to its question.

    Recorded as an evaluation; it is no decision about a memory.
    """
    within("question", len(body.question), options.limits.source, "characters")
    within("context", len(body.context), options.limits.source, "characters")
    within("answer", len(body.answer), options.limits.fact, "characters")
    command = EvaluateCommand(
        question=body.question,
        context=body.context,
        answer=body.answer,
        weights=body.weights.weights(),
        user_id=body.user_id,
        policy=body.policy,
        record=body.record,
    )

    def render(found: Evaluation) -> tuple[int, EvaluateResponse]:
        return 200, evaluate_out(found)

    kept = once(key, body.model_dump_json(), render)

    def work() -> Evaluation | StoredAnswer:
        with as_input("policy", "answer"):
            return services.evaluate.run(scope, command, kept)

    return respond(await workers.run(work), render)


@router.post(
    "/hook",
    response_model=HookResponse,
    responses=documented(400, 409, 413, 415, 422, 503),
    summary="Decide before a memory engine writes",
)
async def hook(
    *,
    body: Annotated[HookRequest, Body(openapi_examples={"a fact": {"value": HOOK_EXAMPLE}})],
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Let the gate decide on one candidate: `accepted`, `rejected` or `uncertain`, and why.

    It is the decision of `POST /check`, in the three words of a pre-write hook.
    """
    limits = options.limits
    within("source_text", len(body.source_text), limits.source, "characters")
    within("candidate", len(body.candidate), limits.fact, "characters")
    command = to_command(body.check(), limits)

    def render(answers: list[CheckAnswer]) -> tuple[int, HookResponse]:
        return 200, hook_out(to_response(command, answers[0]))

    kept = once(key, body.model_dump_json(), render)

    def work() -> list[CheckAnswer] | StoredAnswer:
        with as_input("metadata.policy", "candidate"):
            return services.check.run(scope, [command], kept)

    answer = await workers.run(work)
    if not isinstance(answer, StoredAnswer):
        outcome = answer[0].outcome
        options.metrics.decided(outcome.verdict.value, outcome.reason_code.value)
    return respond(answer, render)

"""``/memory``: remember, and one memory."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query
from starlette.responses import Response

from service.http.dependencies import (
    IdempotencyDep,
    NeedsModels,
    OptionsDep,
    ReaderDep,
    ServicesDep,
    WorkersDep,
    WriterDep,
)
from service.http.inputs import as_input
from service.http.once import once, respond
from service.http.owner import MaybeUserDep, UserDep, user_of
from service.http.problems import documented
from service.http.remembering import http_status, remembered_out, to_remember
from service.http.schemas.memory import (
    REASON_EXAMPLE,
    SUPERSEDE_EXAMPLE,
    ChangeOut,
    DriftItemOut,
    HistoryOut,
    MemoryOut,
    ReasonRequest,
    SupersedeRequest,
    change_out,
    drift_item_out,
    history_out,
    memory_out,
)
from service.http.schemas.remember import (
    FACT_EXAMPLE,
    MESSAGE_EXAMPLE,
    MESSAGES_EXAMPLE,
    RememberRequest,
    RememberResponse,
)
from service.http.services import Metrics
from service.http.translate import within
from service.ports.storage import StoredAnswer
from service.usecases.intake import Claimed
from service.usecases.lineage import Changed, Which
from service.usecases.memorize import Remembered

router = APIRouter(tags=["memory"])
MemoryId = Annotated[str, Path(min_length=1, max_length=128)]
_WRITES = documented(400, 404, 409, 413, 415, 422, 503)


@router.post(
    "/memory",
    response_model=RememberResponse,
    responses={
        201: {"model": RememberResponse, "description": "Something was written to memory"},
        **documented(400, 409, 413, 415, 422, 503),
    },
    dependencies=[NeedsModels],
    summary="Remember what a message, a conversation or a fact says",
)
async def remember(
    *,
    body: Annotated[
        RememberRequest,
        Body(
            openapi_examples={
                "one message": {"value": MESSAGE_EXAMPLE},
                "a conversation": {"value": MESSAGES_EXAMPLE},
                "a fact": {"value": FACT_EXAMPLE},
            }
        ),
    ],
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Find facts, check each against its source, weigh it against what is known, and write it.

    201 when something was written to memory, 200 when not; the answer always says why.
    """
    command = to_remember(body, options.limits)
    kept = once(key, body.model_dump_json(), _render)

    def work() -> Remembered | StoredAnswer:
        with as_input("policy"):
            return services.remember.run(scope, command, kept)

    answer = await workers.run(work)
    _count(options.metrics, answer)
    return respond(answer, _render)


@router.get(
    "/memory/{memory_id}",
    response_model=MemoryOut,
    responses=documented(404, 422, 503),
    summary="Read a memory",
)
async def get_memory(
    memory_id: MemoryId,
    user_id: UserDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> MemoryOut:
    """Return one memory of this user; somebody else's is not found."""
    which = Which(user_id, memory_id)
    return memory_out(await workers.run(lambda: services.memories.get(scope, which)))


@router.get(
    "/memory/{memory_id}/history",
    response_model=HistoryOut,
    responses=documented(404, 422, 503),
    summary="Read the line of a memory",
)
async def get_history(
    memory_id: MemoryId,
    user_id: UserDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> HistoryOut:
    """Return what a memory replaced, what replaced it, and every step with its time and actor."""
    which = Which(user_id, memory_id)
    return history_out(await workers.run(lambda: services.memories.history(scope, which)))


@router.get(
    "/memory/{memory_id}/drift",
    response_model=DriftItemOut,
    responses=documented(404, 422, 503),
    summary="Is a memory as it was written?",
)
async def get_drift(
    memory_id: MemoryId,
    user_id: UserDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> DriftItemOut:
    """Compare a memory with its own hashes, its turn, its offsets and the log."""
    found = await workers.run(lambda: services.drift.one(scope, user_id, memory_id))
    return drift_item_out(found)


@router.delete(
    "/memory/{memory_id}",
    response_model=ChangeOut,
    responses=documented(404, 422, 503),
    summary="Delete a memory (it can be restored)",
)
async def delete_memory(
    *,
    memory_id: MemoryId,
    user_id: UserDep,
    reason: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> ChangeOut:
    """Hide a memory. What it had replaced stays replaced; deleting it again changes nothing."""
    which = Which(user_id, memory_id)
    return change_out(await workers.run(lambda: services.change.delete(scope, which, reason)))


@router.post(
    "/memory/{memory_id}/supersede",
    response_model=RememberResponse,
    responses={201: {"model": RememberResponse, "description": "Superseded"}, **_WRITES},
    dependencies=[NeedsModels],
    summary="Replace a memory",
)
async def supersede(
    *,
    memory_id: MemoryId,
    body: Annotated[
        SupersedeRequest, Body(openapi_examples={"she moved": {"value": SUPERSEDE_EXAMPLE}})
    ],
    user: MaybeUserDep,
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Put a new text in the place of an active memory; the gate has to let it pass."""
    which = Which(user_of(user, body.user_id), memory_id)
    within("fact", len(body.fact), options.limits.fact, "characters")
    within("source", len(body.source or ""), options.limits.source, "characters")
    fact = Claimed(text=body.fact, source=body.source)
    kept = once(key, f"{which.user_id} {body.model_dump_json()}", _render)
    answer = await workers.run(
        lambda: services.supersede.run(scope, which, fact, body.reason, kept)
    )
    _count(options.metrics, answer)
    return respond(answer, _render)


@router.post(
    "/memory/{memory_id}/retract",
    response_model=ChangeOut,
    responses=_WRITES,
    summary="End a memory",
)
async def retract(
    *,
    memory_id: MemoryId,
    body: Annotated[ReasonRequest, Body(openapi_examples={"a mistake": {"value": REASON_EXAMPLE}})],
    user: MaybeUserDep,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Say that an active memory no longer holds. What it had replaced stays replaced."""
    which = Which(user_of(user, body.user_id), memory_id)
    kept = once(key, f"{which.user_id} {body.model_dump_json()}", _changed)
    answer = await workers.run(lambda: services.change.retract(scope, which, body.reason, kept))
    return respond(answer, _changed)


@router.post(
    "/memory/{memory_id}/restore",
    response_model=ChangeOut,
    responses=_WRITES,
    dependencies=[NeedsModels],
    summary="Make a memory count again",
)
async def restore(
    *,
    memory_id: MemoryId,
    body: Annotated[ReasonRequest, Body(openapi_examples={"a mistake": {"value": REASON_EXAMPLE}})],
    user: MaybeUserDep,
    scope: WriterDep,
    services: ServicesDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Bring back what was superseded, retracted or deleted; it supersedes what holds its place."""
    which = Which(user_of(user, body.user_id), memory_id)
    kept = once(key, f"{which.user_id} {body.model_dump_json()}", _changed)
    answer = await workers.run(lambda: services.change.restore(scope, which, body.reason, kept))
    return respond(answer, _changed)


def _render(answer: Remembered) -> tuple[int, RememberResponse]:
    return http_status(answer), remembered_out(answer)


def _changed(answer: Changed) -> tuple[int, ChangeOut]:
    return 200, change_out(answer)


def _count(metrics: Metrics, answer: Remembered | StoredAnswer) -> None:
    if isinstance(answer, StoredAnswer) or answer.dry_run:
        return
    if not answer.results:
        metrics.remembered("ignored")
    for done in answer.results:
        check = done.outcome.judged.check
        metrics.decided(check.verdict.value, check.reason_code.value)
        metrics.remembered(done.outcome.status.value)

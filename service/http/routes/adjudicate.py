"""``POST /adjudicate``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from starlette.responses import Response

from service.domain.check import CheckInput
from service.domain.errors import InvalidInput
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
from service.http.schemas.adjudicate import (
    EXAMPLE,
    AdjudicateRequest,
    AdjudicateResponse,
    PartyIn,
    adjudicate_out,
)
from service.http.services import HttpLimits
from service.http.translate import within
from service.ports.storage import StoredAnswer
from service.usecases.adjudicate import Party
from service.usecases.weigh_facts import WeighAnswer, WeighCommand

router = APIRouter(tags=["check"], dependencies=[NeedsModels])


@router.post(
    "/adjudicate",
    response_model=AdjudicateResponse,
    responses=documented(400, 404, 409, 413, 415, 422, 503),
    summary="Weigh a new memory against existing ones",
)
async def adjudicate(
    *,
    body: Annotated[AdjudicateRequest, Body(openapi_examples={"a new home": {"value": EXAMPLE}})],
    scope: WriterDep,
    services: ServicesDep,
    options: OptionsDep,
    workers: WorkersDep,
    key: IdempotencyDep,
) -> Response:
    """Say whether a new memory replaces, repeats, contradicts or stands beside existing ones."""
    command = to_weigh(body, options.limits)
    kept = once(key, body.model_dump_json(), _render)

    def work() -> WeighAnswer | StoredAnswer:
        if command.policy is not None:
            with as_input("policy"):
                services.policies.get(scope, command.policy)
        return services.weigh.run(scope, command, kept)

    answer = await workers.run(work)
    if not isinstance(answer, StoredAnswer):
        outcome = answer.weighed.outcome
        options.metrics.decided(outcome.verdict.value, outcome.reason_code)
    return respond(answer, _render)


def to_weigh(body: AdjudicateRequest, limits: HttpLimits) -> WeighCommand:
    """Return the command for a request; raises ``InvalidInput`` naming the field."""
    if body.existing_ids and body.existing:
        raise InvalidInput("existing", "give either existing or existing_ids")
    if body.existing_ids and body.user_id is None:
        raise InvalidInput("user_id", "is required with existing_ids")
    within("existing", len(body.existing), limits.batch, "items")
    within("existing_ids", len(body.existing_ids or []), limits.batch, "items")
    return WeighCommand(
        incoming=_party(body.incoming, limits, "incoming"),
        existing=tuple(_party(p, limits, f"existing.{n}") for n, p in enumerate(body.existing)),
        existing_ids=tuple(body.existing_ids or ()),
        user_id=body.user_id,
        policy=body.policy,
        record=body.record,
    )


def _party(given: PartyIn, limits: HttpLimits, where: str) -> Party:
    within(f"{where}.fact", len(given.fact), limits.fact, "characters")
    within(f"{where}.source", len(given.source), limits.source, "characters")
    asked = CheckInput(
        source=given.source,
        fact=given.fact,
        speaker=given.speaker,
        speaker_name=given.speaker_name,
        observed_at=given.observed_at,
    )
    return Party(
        input=asked,
        id=given.id,
        authority=given.authority,
        valid_from=given.valid_from,
        valid_to=given.valid_to,
    )


def _render(answer: WeighAnswer) -> tuple[int, AdjudicateResponse]:
    return 200, adjudicate_out(answer)

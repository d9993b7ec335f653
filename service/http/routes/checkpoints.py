"""``GET /audit/checkpoint``: whoever asks can keep the answer, and be a witness."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from service.domain.errors import NotFound
from service.http.dependencies import ReaderDep, ServicesDep, WorkersDep
from service.http.problems import documented
from service.http.schemas.checkpoints import SignedCheckpointOut, signed_checkpoint_out

router = APIRouter(prefix="/audit", tags=["audit"])
_TEXT = "text/plain"


@router.get(
    "/checkpoint",
    response_model=SignedCheckpointOut,
    responses={
        200: {
            "description": "The checkpoint, or with `format=note` only its note",
            "content": {_TEXT: {"schema": {"type": "string"}}},
        },
        **documented(404, 422, 503),
    },
    summary="Read the last signed checkpoint",
)
async def last_checkpoint(
    *,
    form: Annotated[
        Literal["json", "note"] | None,
        Query(alias="format", description="`note` for the bare note, as does `Accept`."),
    ] = None,
    accept: Annotated[str, Header(include_in_schema=False)] = "",
    _scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> Response:
    """Return what the log was when it was last signed, for anybody to keep and compare later."""
    if form == "note" or (form is None and accept.strip().lower().startswith(_TEXT)):
        note = services.checkpoints.latest()
        if note is None:
            raise NotFound("checkpoint")
        return Response(note, media_type=_TEXT)
    answer = await workers.run(lambda: signed_checkpoint_out(services.checkpoints))
    return Response(answer.model_dump_json(), media_type="application/json")

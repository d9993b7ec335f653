"""``/users``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from service.http.dependencies import ReaderDep, ServicesDep, WorkersDep
from service.http.paging import query_text
from service.http.problems import documented
from service.http.schemas.users import ExportOut, export_out

router = APIRouter(prefix="/users", tags=["users"])


@router.get(
    "/{user_id}/export",
    response_model=ExportOut,
    responses=documented(422, 503),
    summary="Export everything about a user",
)
async def export_user(
    user_id: Annotated[str, Path(min_length=1, max_length=128)],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> Response:
    """Return one JSON file: turns, memories, history, conflicts, reviews, lessons and the log."""
    asked = query_text("user_id", user_id)

    def work() -> bytes:
        return export_out(services.export.run(scope, asked)).model_dump_json().encode()

    body = await workers.run_alone(work)
    headers = {"Content-Disposition": 'attachment; filename="export.json"'}
    return Response(body, headers=headers, media_type="application/json")

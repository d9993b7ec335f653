"""``GET /audit/export``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response, StreamingResponse

from service.domain.errors import InvalidInput
from service.http.dependencies import ReaderDep, ServicesDep, WorkersDep
from service.http.paging import query_text
from service.http.problems import documented
from service.http.schemas.common import Moment
from service.http.workers import WorkerPool
from service.usecases.export_csv import MEDIA_TYPE as CSV
from service.usecases.export_log import ExportFormat
from service.usecases.read_audit import AuditQuery

router = APIRouter(prefix="/audit", tags=["audit"])
_NDJSON = "application/x-ndjson"
_STREAMED = "The entries, streamed."
_CONTENT = {
    _NDJSON: {"schema": {"type": "string", "format": "binary"}},
    "text/csv": {"schema": {"type": "string", "format": "binary"}},
}


async def _query(
    user_id: Annotated[
        str | None, Query(min_length=1, max_length=128, description="Only this user's entries.")
    ] = None,
    since: Annotated[Moment | None, Query(description="Inclusive.")] = None,
    until: Annotated[Moment | None, Query(description="Exclusive.")] = None,
) -> AuditQuery:
    user = None if user_id is None else query_text("user_id", user_id)
    return AuditQuery(user_id=user, since=since, until=until)


@router.get(
    "/export",
    response_class=Response,
    responses={
        200: {"description": _STREAMED, "content": _CONTENT},
        **documented(422, 503),
    },
    summary="Export entries of the log",
)
async def export_entries(
    query: Annotated[AuditQuery, Depends(_query)],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
    form: Annotated[
        Literal["jsonl", "csv"],
        Query(alias="format", description="`jsonl` to verify, `csv` to look at."),
    ] = "jsonl",
    *,
    proofs: Annotated[
        bool, Query(description="With `jsonl`: each entry as text, with its inclusion proof.")
    ] = False,
) -> Response:
    """Stream this tenant's entries, oldest first.

    As `jsonl` a line is exactly the bytes that were hashed. The numbers have gaps where other
    tenants' entries, or those that the conditions leave out, stand in the log: so the chain cannot
    be followed here, but with `proofs=true` each entry can be shown to be in the signed log. The
    command line exports a whole log.
    """
    if proofs and form != "jsonl":
        raise InvalidInput("proofs", "needs format=jsonl")
    chosen = ExportFormat.PROOFS if proofs else ExportFormat(form)
    chunks = services.export_log.run(scope, query, chosen)
    first = await workers.run(
        lambda: next(chunks, b"")
    )  # so that an error is still answered as one
    headers = {"Content-Disposition": f'attachment; filename="audit.{form}"'}
    media_type = CSV if form == "csv" else _NDJSON
    return StreamingResponse(_stream(first, chunks, workers), 200, headers, media_type)


async def _stream(
    first: bytes, chunks: Iterator[bytes], workers: WorkerPool
) -> AsyncIterator[bytes]:
    chunk = first
    while chunk:
        yield chunk
        chunk = await workers.run(lambda: next(chunks, b""))

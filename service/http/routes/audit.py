"""``/audit``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from service.domain.verdicts import Verdict
from service.http.dependencies import ReaderDep, ServicesDep, WorkersDep
from service.http.paging import PageDep, query_text
from service.http.problems import documented
from service.http.schemas.audit import (
    ConsistencyOut,
    EntryListOut,
    EntryOut,
    InclusionOut,
    VerifyOut,
    consistency_out,
    entry_out,
    inclusion_out,
    verify_out,
)
from service.http.schemas.common import Moment, Sequence53
from service.usecases.read_audit import AuditQuery

router = APIRouter(prefix="/audit", tags=["audit"])


async def _query(
    user_id: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    verdict: Verdict | None = None,
    action: Annotated[
        str | None, Query(min_length=1, max_length=64, examples=["check.decided"])
    ] = None,
    since: Annotated[Moment | None, Query(description="Inclusive.")] = None,
    until: Annotated[Moment | None, Query(description="Exclusive.")] = None,
) -> AuditQuery:
    return AuditQuery(
        user_id=None if user_id is None else query_text("user_id", user_id),
        verdict=verdict.value if verdict else None,
        action=None if action is None else query_text("action", action),
        since=since,
        until=until,
    )


@router.get(
    "",
    response_model=EntryListOut,
    responses=documented(422, 503),
    summary="List entries of the log",
)
async def list_entries(
    query: Annotated[AuditQuery, Depends(_query)],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
    page: PageDep,
) -> EntryListOut:
    """List this tenant's entries, newest first. All given conditions hold."""

    def work() -> EntryListOut:
        found = services.audit.list(scope, query, page)
        return EntryListOut(
            items=[entry_out(v) for v in found.items],
            next_cursor=found.next_cursor,
            total=found.total,
        )

    return await workers.run(work)


@router.get(
    "/verify",
    response_model=VerifyOut,
    responses=documented(422, 503),
    summary="Verify the whole log",
)
async def verify_log(_scope: ReaderDep, services: ServicesDep, workers: WorkersDep) -> VerifyOut:
    """Check every entry, link and text of the log; slow on a long one, one at a time."""
    return verify_out(await workers.run_alone(services.audit.verify))


@router.get(
    "/proof",
    response_model=InclusionOut,
    responses=documented(404, 422, 503),
    summary="Prove that an entry is in the log",
)
async def prove_inclusion(
    *,
    seq: Annotated[Sequence53, Query(description="The entry; one of this tenant's.")],
    size: Annotated[
        Sequence53 | None, Query(description="Of the log, in entries; by default as it is now.")
    ] = None,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> InclusionOut:
    """Return the RFC 6962 audit path of an entry; check its root against a checkpoint you trust."""
    return inclusion_out(await workers.run(lambda: services.audit.proof(scope, seq, size)))


@router.get(
    "/consistency",
    response_model=ConsistencyOut,
    responses=documented(422, 503),
    summary="Prove that the log only grew",
)
async def prove_consistency(
    *,
    first: Annotated[Sequence53, Query(description="A size the log had, in entries.")],
    second: Annotated[
        Sequence53 | None, Query(description="A later size; by default as it is now.")
    ] = None,
    _scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> ConsistencyOut:
    """Return the RFC 6962 proof between two sizes; check both roots against checkpoints."""
    return consistency_out(await workers.run(lambda: services.audit.consistency(first, second)))


@router.get(
    "/{seq}",
    response_model=EntryOut,
    responses=documented(404, 422, 503),
    summary="Read one entry",
)
async def get_entry(
    seq: Annotated[Sequence53, Path()],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> EntryOut:
    """Return one entry with its texts; another tenant's entry is not found."""
    return entry_out(await workers.run(lambda: services.audit.get(scope, seq)))

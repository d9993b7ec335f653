"""``/memories`` and ``/turns``: a user's memories as a whole."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query

from service.domain.attributes import attribute_name
from service.domain.memory import MemoryStatus, MemoryType
from service.http.dependencies import ReaderDep, ServicesDep, WorkersDep
from service.http.owner import UserDep
from service.http.paging import PageDep, query_text
from service.http.problems import documented
from service.http.schemas.common import Moment
from service.http.schemas.memory import (
    DriftOut,
    HistoryOut,
    MemoryListOut,
    TurnOut,
    drift_item_out,
    history_out,
    memory_out,
    turn_out,
)
from service.usecases.memories import MemoryQuery

router = APIRouter(tags=["memory"])
Word = Annotated[str | None, Query(min_length=1, max_length=128)]
Status = Literal["active", "superseded", "retracted", "deleted", "all"]


async def _query(
    *,
    user_id: UserDep,
    agent_id: Word = None,
    session_id: Word = None,
    status: Status = "active",
    type_: Annotated[MemoryType | None, Query(alias="type")] = None,
    subject: Word = None,
    attribute: Word = None,
    contested: bool | None = None,
    q: Annotated[str | None, Query(min_length=1, max_length=500)] = None,
    since: Annotated[Moment | None, Query(description="Recorded at or after.")] = None,
    until: Annotated[Moment | None, Query(description="Recorded before.")] = None,
) -> MemoryQuery:
    def text(name: str, value: str | None) -> str | None:
        return None if value is None else query_text(name, value)

    return MemoryQuery(
        user_id=user_id,
        agent_id=text("agent_id", agent_id),
        session_id=text("session_id", session_id),
        statuses=() if status == "all" else (MemoryStatus(status),),
        type=type_.value if type_ else None,
        subject=text("subject", subject),
        attribute=attribute_name(text("attribute", attribute) or "") or None,
        contested=contested,
        q=text("q", q),
        since=since,
        until=until,
    )


@router.get(
    "/memories",
    response_model=MemoryListOut,
    responses=documented(422, 503),
    summary="List a user's memories",
)
async def list_memories(
    query: Annotated[MemoryQuery, Depends(_query)],
    page: PageDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> MemoryListOut:
    """List memories, newest first. All given conditions hold."""

    def work() -> MemoryListOut:
        found = services.memories.list(scope, query, page)
        return MemoryListOut(
            items=[memory_out(m) for m in found.items],
            next_cursor=found.next_cursor,
            total=found.total,
        )

    return await workers.run(work)


@router.get(
    "/memories/history",
    response_model=HistoryOut,
    responses=documented(422, 503),
    summary="Read all about one subject",
)
async def subject_history(
    user_id: UserDep,
    subject: Annotated[str, Query(min_length=1, max_length=128, examples=["user"])],
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> HistoryOut:
    """Return everything that ever happened to one subject, also what has been replaced."""
    about = query_text("subject", subject)
    found = await workers.run(lambda: services.memories.about(scope, user_id, about))
    return history_out(found)


@router.get(
    "/memories/drift",
    response_model=DriftOut,
    responses=documented(422, 503),
    summary="Are a user's memories as they were written?",
)
async def list_drift(
    user_id: UserDep, scope: ReaderDep, services: ServicesDep, workers: WorkersDep
) -> DriftOut:
    """Compare every memory with its hashes, its turn and the log; slow, one at a time."""
    status, found = await workers.run_alone(lambda: services.drift.all(scope, user_id))
    counts = Counter(f.status.value for f in found)
    return DriftOut(status=status, items=[drift_item_out(f) for f in found], counts=dict(counts))


@router.get(
    "/turns/{turn_id}",
    response_model=TurnOut,
    responses=documented(404, 422, 503),
    summary="Read a message as it was received",
)
async def get_turn(
    turn_id: Annotated[str, Path(min_length=1, max_length=128)],
    user_id: UserDep,
    scope: ReaderDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> TurnOut:
    """Return one message of this user; somebody else's is not found."""
    return turn_out(await workers.run(lambda: services.memories.turn(scope, user_id, turn_id)))

"""``/erasures``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictBool

from service.domain.erasure import (
    Asked,
    ErasureMode,
    ErasureReason,
    ErasureRecord,
    ErasureStatus,
)
from service.domain.errors import InvalidInput
from service.http.schemas.common import AnswerModel, Moment, Name, RequestModel, Text
from service.ports.erasure import HeldMemory
from service.usecases.erasure.plan import PlanCommand, Planned

PLAN_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "memory_ids": ["mem_01kt9z8p3q5r7s9v1x3z5b7d9f"],
    "reason_code": "user_request",
    "reason": "Ticket 4711",
}
ALL_EXAMPLE: dict[str, Any] = {"user_id": "ana", "all": True, "reason": "user_request"}
CONFIRM_EXAMPLE: dict[str, Any] = {
    "plan_sha256": "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
    "allow_collateral": False,
}
_IDS = 1_000
_SHOWN = 200
Ids = Annotated[list[Name], Field(min_length=1, max_length=_IDS)]


class PlanRequest(RequestModel):
    """What to erase of one user: exactly one of `memory_ids`, `turn_ids` and `all`."""

    user_id: Name
    memory_ids: Ids | None = None
    turn_ids: Ids | None = None
    all: StrictBool = Field(False, description="Everything of the user, and who they are.")
    reason: Text = Field(
        max_length=500,
        description="A note for the receipt, such as a ticket's number. It may not repeat what is "
        "erased. One of the codes is taken as `reason_code`.",
    )
    reason_code: ErasureReason | None = Field(
        None, description="What the log says, which can never be erased; `other` by default."
    )


class ConfirmRequest(RequestModel):
    """The plan to carry out."""

    plan_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    allow_collateral: StrictBool = Field(
        False, description="Consent to lose the memories that the plan lists as collateral."
    )


class PlannedMemoryOut(AnswerModel):
    """A memory that goes."""

    id: str
    text: str
    status: str
    turn_id: str | None


class PlannedTurnOut(AnswerModel):
    """A turn that goes."""

    id: str
    text: str


class LinkOut(AnswerModel):
    """A memory that stays as it is although its lineage names one that goes."""

    memory_id: str
    status: str
    relation: str = Field(description="`replaced_by` or `supersedes`.")
    erased_id: str


class PlannedDecisionOut(AnswerModel):
    """An entry of the log that loses texts; the entry itself stays."""

    seq: int
    decision_id: str | None
    texts: list[str]


class PlanOut(AnswerModel):
    """What would be erased. Of everything of a user, lists show the first 200."""

    plan_sha256: str = Field(description="SHA-256 of the plan's canonical JSON; ids only.")
    user_id: str
    mode: ErasureMode
    reason_code: ErasureReason
    reason: str
    expires_at: Moment
    targets: list[PlannedMemoryOut]
    duplicates: list[PlannedMemoryOut] = Field(description="They say the same, and go too.")
    collateral: list[PlannedMemoryOut] = Field(
        description="Their source goes, so they cannot stay; this needs consent."
    )
    turns: list[PlannedTurnOut]
    lineage: list[LinkOut]
    restated: list[str] = Field(description="Memories that stay and lose a reason with the text.")
    reviews: list[str]
    conflicts: list[str]
    lessons: list[str]
    decisions: list[PlannedDecisionOut]
    counts: dict[str, int]


class FindingOut(AnswerModel):
    """What keeps an erasure from being complete."""

    code: str
    count: int


class ErasureOut(AnswerModel):
    """A receipt: what was erased, and what says so in the log."""

    id: str
    status: ErasureStatus
    mode: ErasureMode
    reason_code: ErasureReason
    reason: str
    plan_sha256: str
    memory_ids: list[str] = Field(description="Empty when everything of a user was erased.")
    counts: dict[str, int]
    tombstones: list[int] = Field(description="The numbers of the `erasure.done` entries.")
    findings: list[FindingOut] = Field(description="Empty once it is complete.")
    out_of_reach: list[str] = Field(description="Copies that this service cannot touch.")
    erased_at: Moment
    finished_at: Moment | None


def to_command(body: PlanRequest) -> PlanCommand:
    """Return the command for a request; raises ``InvalidInput`` naming the field."""
    given = [body.memory_ids is not None, body.turn_ids is not None, body.all]
    if sum(given) != 1:
        raise InvalidInput("memory_ids", "give exactly one of memory_ids, turn_ids and all")
    asked = Asked(ErasureMode.ALL)
    if body.memory_ids is not None:
        asked = Asked(ErasureMode.MEMORIES, tuple(dict.fromkeys(body.memory_ids)))
    elif body.turn_ids is not None:
        asked = Asked(ErasureMode.TURNS, tuple(dict.fromkeys(body.turn_ids)))
    return PlanCommand(body.user_id, asked, _code(body), body.reason)


def _code(body: PlanRequest) -> ErasureReason:
    if body.reason_code is not None:
        return body.reason_code
    codes = {code.value: code for code in ErasureReason}
    return codes.get(body.reason, ErasureReason.OTHER)


def plan_out(planned: Planned) -> PlanOut:
    """Return a plan as it is shown, with the texts that are to be judged."""
    plan, drawn, stored = planned.drawn.plan, planned.drawn, planned.stored
    memories = {m.id: m for m in drawn.memories}
    targets = plan.targets or tuple(memories) if plan.mode is ErasureMode.ALL else plan.targets
    return PlanOut(
        plan_sha256=stored.plan_sha256,
        user_id=planned.user_id,
        mode=plan.mode,
        reason_code=stored.reason_code,
        reason=stored.reason,
        expires_at=stored.expires_at,
        targets=[_memory(memories[i]) for i in targets[:_SHOWN]],
        duplicates=[_memory(memories[i]) for i in plan.duplicates],
        collateral=[_memory(memories[i]) for i in plan.collateral],
        turns=[PlannedTurnOut(id=i, text=t) for i, t in list(drawn.turns.items())[:_SHOWN]],
        lineage=[
            LinkOut(
                memory_id=link.memory_id,
                status=link.status,
                relation=link.relation,
                erased_id=link.erased_id,
            )
            for link in plan.lineage
        ],
        restated=list(plan.restated),
        reviews=list(plan.reviews),
        conflicts=list(plan.conflicts),
        lessons=list(plan.lessons),
        decisions=[
            PlannedDecisionOut(seq=b.seq, decision_id=b.decision_id, texts=list(b.names))
            for b in plan.bodies
        ],
        counts=dict(planned.counts),
    )


def erasure_out(record: ErasureRecord, out_of_reach: tuple[str, ...]) -> ErasureOut:
    """Return a receipt as it is shown."""
    return ErasureOut(
        id=record.id,
        status=record.status,
        mode=record.mode,
        reason_code=record.reason_code,
        reason=record.reason,
        plan_sha256=record.plan_sha256,
        memory_ids=list(record.memory_ids),
        counts=dict(record.counts),
        tombstones=list(record.tombstones),
        findings=[FindingOut(code=f.code, count=f.count) for f in record.findings],
        out_of_reach=list(out_of_reach),
        erased_at=record.erased_at,
        finished_at=record.finished_at,
    )


def _memory(memory: HeldMemory) -> PlannedMemoryOut:
    return PlannedMemoryOut(
        id=memory.id, text=memory.text, status=memory.status, turn_id=memory.turn_id
    )

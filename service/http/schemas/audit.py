"""``/audit``."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from service.audit.verify import Report
from service.http.schemas.common import AnswerModel, ListAnswer
from service.usecases.read_audit import AuditView


class BodyOut(AnswerModel):
    """A text and the salt that binds it to its commitment in the entry."""

    text: str
    salt: str


class EntryOut(AnswerModel):
    """One entry of the log."""

    seq: int
    entry_hash: str = Field(description="SHA-256 of 0x00 and the canonical bytes.")
    canonical: str = Field(description="Exactly the bytes that are hashed, as text.")
    damaged: bool = Field(description="Whether these bytes are not a valid entry.")
    ts: str | None
    action: str | None
    actor: str | None
    subject: str | None
    decision: dict[str, Any] | None
    policy: str | None
    models: dict[str, str]
    commitments: dict[str, str]
    prev: str | None
    texts: dict[str, BodyOut] = Field(description="Empty without a user, or once erased.")


class EntryListOut(ListAnswer[EntryOut]):
    """Entries of the log, newest first."""


class LevelOut(AnswerModel):
    """One level of a verification; `ok` is null when there was nothing to check it on."""

    number: int
    name: str
    ok: bool | None
    problems: list[str]


class CheckpointOut(AnswerModel):
    """The signed checkpoint the log was compared with."""

    present: bool


class VerifyOut(AnswerModel):
    """What verifying the whole log found."""

    ok: bool
    total: int
    verified: int
    broken_at: list[int]
    compromised: list[int]
    missing: list[int]
    checkpoint: CheckpointOut
    reason: str
    levels: list[LevelOut]
    not_excluded: list[str] = Field(description="Attacks that this verification cannot see.")


def entry_out(view: AuditView) -> EntryOut:
    """Return an entry as it is shown."""
    entry = view.entry
    draft = entry.draft if entry is not None else None
    return EntryOut(
        seq=view.seq,
        entry_hash=view.entry_hash,
        canonical=view.data.decode("utf-8", "replace"),
        damaged=entry is None,
        ts=entry.ts if entry else None,
        action=draft.kind if draft else None,
        actor=draft.actor if draft else None,
        subject=draft.subject if draft else None,
        decision=dict(draft.decision) if draft and draft.decision is not None else None,
        policy=draft.policy if draft else None,
        models=dict(draft.models) if draft else {},
        commitments=dict(draft.commitments) if draft else {},
        prev=entry.prev if entry else None,
        texts={
            name: BodyOut(text=body.text.encode("utf-8", "replace").decode(), salt=body.salt.hex())
            for name, body in view.bodies.items()
        },
    )


def verify_out(report: Report) -> VerifyOut:
    """Return a verification's report as it is shown."""
    return VerifyOut(
        ok=report.ok,
        total=report.total,
        verified=report.verified,
        broken_at=list(report.broken_at),
        compromised=list(report.compromised),
        missing=list(report.missing),
        checkpoint=CheckpointOut(present=False),
        reason=report.reason,
        levels=[
            LevelOut(number=v.number, name=v.name, ok=v.ok, problems=list(v.problems))
            for v in report.levels
        ],
        not_excluded=list(report.not_excluded),
    )

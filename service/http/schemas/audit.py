"""``/audit``."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from service.audit.report import Compared, Report
from service.http.schemas.common import AnswerModel, ListAnswer
from service.usecases.read_audit import AuditView, Consistency, Inclusion


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


class InclusionOut(AnswerModel):
    """The proof that an entry is in the log (RFC 6962, 2.1.1). Hashes are 64 hex digits."""

    seq: int = Field(description="The entry, which is leaf number `seq`, from 0.")
    size: int = Field(description="Of how many entries the log is that the proof is for.")
    leaf_hash: str = Field(description="SHA-256 of 0x00 and the entry's canonical bytes.")
    root: str = Field(description="Root of that log; it counts once a checkpoint says the same.")
    path: list[str] = Field(description="Hashes to join, from the leaf upwards.")


class ConsistencyOut(AnswerModel):
    """The proof that one log continues another (RFC 6962, 2.1.2). Hashes are 64 hex digits."""

    first: int = Field(description="Entries of the earlier log.")
    second: int = Field(description="Entries of the later log.")
    first_root: str
    second_root: str
    path: list[str] = Field(description="Empty if the sizes are equal, or the first is 0.")


class LevelOut(AnswerModel):
    """One level of a verification; `ok` is null when not all of it could be checked."""

    number: int
    name: str
    ok: bool | None
    problems: list[str]
    notes: list[str] = Field(description="What was, and what was not looked at.")


class ComparedOut(AnswerModel):
    """The newest signed checkpoint that the log was compared with."""

    present: bool = Field(description="Always true; without a checkpoint the whole object is null.")
    size: int
    root: str
    fits: bool = Field(description="Whether the first `size` entries are the ones signed.")
    outside: bool = Field(description="Whether it was held elsewhere; a server's is not.")


class VerifyOut(AnswerModel):
    """What verifying the whole log found."""

    ok: bool
    total: int
    verified: int
    broken_at: list[int]
    compromised: list[int]
    missing: list[int]
    checkpoint: ComparedOut | None
    reason: str
    levels: list[LevelOut]
    not_excluded: list[str] = Field(description="Attacks that this verification cannot see.")
    statements: list[str] = Field(description="What was excluded and what was not, in words.")
    origin: str = Field(description="The name of the log.")
    root: str = Field(description="Root over its entries, up to the first gap; hex.")


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
            name: BodyOut(text=printable(body.text), salt=body.salt.hex())
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
        checkpoint=_compared_out(report.checkpoint),
        reason=report.reason,
        levels=[
            LevelOut(
                number=v.number,
                name=v.name,
                ok=v.ok,
                problems=[printable(p) for p in v.problems],
                notes=list(v.notes),
            )
            for v in report.levels
        ],
        not_excluded=list(report.not_excluded),
        statements=list(report.statements),
        origin=printable(report.origin),
        root=report.root,
    )


def inclusion_out(proof: Inclusion) -> InclusionOut:
    """Return a proof of inclusion as it is shown."""
    return InclusionOut(
        seq=proof.seq,
        size=proof.size,
        leaf_hash=proof.leaf.hex(),
        root=proof.root.hex(),
        path=[value.hex() for value in proof.path],
    )


def consistency_out(proof: Consistency) -> ConsistencyOut:
    """Return a proof of consistency as it is shown."""
    return ConsistencyOut(
        first=proof.first,
        second=proof.second,
        first_root=proof.first_root.hex(),
        second_root=proof.second_root.hex(),
        path=[value.hex() for value in proof.path],
    )


def printable(text: str) -> str:
    """Return a text from a file that may be damaged as one that JSON can carry."""
    return text.encode("utf-8", "replace").decode()


def _compared_out(found: Compared | None) -> ComparedOut | None:
    if found is None:
        return None
    return ComparedOut(
        present=True, size=found.size, root=found.root, fits=found.fits, outside=found.outside
    )

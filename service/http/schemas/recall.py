"""Recall, receipts and their verification."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from service.domain.memory import Lesson, MemoryType
from service.domain.recall.eligible import Filters
from service.domain.recall.outcome import LESSON, RecallReason
from service.domain.recall.scoring import Components
from service.http.schemas.check import PolicyRef
from service.http.schemas.common import AnswerModel, Moment, Name, RequestModel, Text
from service.http.schemas.memory import MemoryOut, memory_out
from service.usecases.recall import Answer, RecallCommand, Recalled
from service.usecases.receipts import Verification, Verified

Unit = Annotated[float, Field(ge=0, le=1)]
RecallType = MemoryType | Literal["lesson"]
_MOST = 100

RECALL_EXAMPLE: dict[str, Any] = {"user_id": "ana", "query": "What OS do I use?"}
HISTORY_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "query": "Where did I live before?",
    "include_superseded": True,
    "top_k": 3,
}
LESSON_EXAMPLE: dict[str, Any] = {
    "user_id": "ana",
    "query": "How do we deploy on Fridays?",
    "types": ["lesson"],
}
VERIFY_EXAMPLE: dict[str, Any] = {
    "receipt": {
        "schema": "groundkeeper.recall/1",
        "id": "rcp_01m8mm5g89netd6wxgh72dhh33",
        "at": "2026-11-29T21:42:50.209651+00:00",
        "tenant": "default",
        "query": "What OS do I use?",
        "scope": {"user_id": "ana", "agent_id": None, "session_id": None},
        "options": {
            "top_k": 5,
            "threshold": 0.52,
            "alpha": 0.85,
            "beta": 0.1,
            "types": [],
            "include_superseded": False,
            "as_of": None,
            "valid_at": None,
            "since": None,
            "until": None,
        },
        "policy": "446d283e16a4…",
        "models": {"embedder": "sha256:82f3d22620c0…", "nli": "sha256:42aea6a5c6e7…"},
        "definition": "973ed114c107…",
        "log": {"origin": "groundkeeper/log_01m8", "size": 15, "leaf": "8257e623c6b6…"},
        "reason": "nothing_above_threshold",
        "best_score": 0.22,
        "hits": [],
        "key_id": "9ff671217a19e8ac",
        "signature": "FLX2PLWC55plTt0kleCAdtJDTBkX1LKBlh5HEGOZiWU2zVap1KDkXgT4ZZawIw0JG8AW2NnX",
    }
}


class RecallRequest(RequestModel):
    """A question to one user's memories."""

    user_id: Name
    query: Text = Field(max_length=2000)
    agent_id: Name | None = None
    session_id: Name | None = None
    top_k: int = Field(5, ge=1, le=_MOST)
    threshold: Unit | None = Field(None, description="The policy's `recall_threshold` by default.")
    alpha: Unit | None = Field(None, description="The policy's by default (0.85).")
    beta: Unit | None = Field(None, description="The policy's by default.")
    types: list[RecallType] | None = Field(
        None, description="Only these kinds; `lesson` must be named to be searched."
    )
    include_superseded: bool = Field(
        False, description="What was replaced or retracted as well, marked by `status`."
    )
    as_of: Moment | None = Field(None, description="What was known here at that time.")
    valid_at: Moment | None = Field(None, description="What held in the world at that time.")
    since: Moment | None = Field(None, description="Said at or after this time (`observed_at`).")
    until: Moment | None = Field(None, description="Said before this time (`observed_at`).")
    policy: Name | None = Field(None, description="A fingerprint, a name, or name@version.")
    receipt: bool = Field(True, description="Sign and store a receipt.")


class ComponentsOut(AnswerModel):
    """What a score is made of; see `docs/recall.md`."""

    semantic: float = Field(description="Calibrated, 0–1.")
    lexical: float = Field(description="BM25 over this user's eligible memories, scaled to 0–1.")
    importance: float = Field(description="β·(importance − 0.5).")
    alpha: float = Field(description="The weight that was used: 0 where words decide alone.")
    cosine: float | None = Field(description="None where the model cannot read the script.")
    entailment: float | None = Field(description="None where the second stage was not asked.")
    lacks: bool = Field(description="Asked for a name, time or number, and has none.")


class RecalledOut(MemoryOut):
    """A memory that answers, as it was at the time asked about."""

    superseded_by: str | None = Field(description="The same as `replaced_by`.")
    score: float = Field(description="0–1, higher is better; the list never increases.")
    components: ComponentsOut


class RecalledLessonOut(AnswerModel):
    """A lesson that answers."""

    id: str
    user_id: str | None = Field(description="None for a lesson for everybody.")
    text: str
    type: Literal["lesson"]
    evidence: str
    applies_to: list[str]
    recorded_at: Moment
    status: Literal["active"]
    score: float
    components: ComponentsOut


class RecallResponse(AnswerModel):
    """What answers, best first, or why nothing does."""

    memories: list[RecalledOut | RecalledLessonOut]
    abstained: bool
    reason: RecallReason
    best_score: float | None = Field(description="Of the best candidate, returned or not.")
    threshold: float
    policy: PolicyRef
    receipt: dict[str, Any] | None = Field(
        description="Signed; null if not wanted, or about nobody who is known."
    )


class VerifyRequest(RequestModel):
    """A receipt as it was handed out."""

    receipt: dict[str, Any]


class ReceiptDifferenceOut(AnswerModel):
    """One field that is not what it should be."""

    field: str
    receipt: Any
    found: Any
    message: str


class VerifyResponse(AnswerModel):
    """Whether a receipt still says what this service would say.

    `verified` is null when what it rests on was erased, or the models or the scorer are others now.
    """

    verified: bool | None
    status: Verification
    differences: list[ReceiptDifferenceOut]


def recall_command(body: RecallRequest) -> RecallCommand:
    """Return the command for a request."""
    filters = Filters(
        agent_id=body.agent_id,
        session_id=body.session_id,
        types=frozenset(str(t) for t in body.types or ()),
        include_superseded=body.include_superseded,
        as_of=body.as_of,
        valid_at=body.valid_at,
        since=body.since,
        until=body.until,
    )
    return RecallCommand(
        user_id=body.user_id,
        query=body.query,
        top_k=body.top_k,
        threshold=body.threshold,
        alpha=body.alpha,
        beta=body.beta,
        filters=filters,
        policy=body.policy,
        receipt=body.receipt,
    )


def recall_out(recalled: Recalled, user_id: str) -> RecallResponse:
    """Return the answer to a recall."""
    outcome, policy = recalled.outcome, recalled.policy
    return RecallResponse(
        memories=[_answer_out(a, user_id) for a in recalled.answers],
        abstained=outcome.abstained,
        reason=outcome.reason,
        best_score=outcome.best_score,
        threshold=recalled.weights.threshold,
        policy=PolicyRef(name=policy.name, version=policy.version, fingerprint=policy.fingerprint),
        receipt=None if recalled.receipt is None else dict(recalled.receipt.body),
    )


def verify_out(verified: Verified) -> VerifyResponse:
    """Return what became of a verification."""
    return VerifyResponse(
        verified=verified.verified,
        status=verified.status,
        differences=[
            ReceiptDifferenceOut(field=d.field, receipt=d.receipt, found=d.found, message=d.message)
            for d in verified.differences
        ],
    )


def _answer_out(answer: Answer, user_id: str) -> RecalledOut | RecalledLessonOut:
    scored = answer.hit.scored
    components = _components(scored.components)
    if answer.hit.lesson is not None:
        return _lesson_out(answer.hit.lesson, user_id, scored.score, components)
    if answer.seen is None:
        raise TypeError("a hit is a memory or a lesson")
    shown = memory_out(answer.seen)
    values = {name: getattr(shown, name) for name in type(shown).model_fields}
    return RecalledOut(
        **values, superseded_by=shown.replaced_by, score=scored.score, components=components
    )


def _lesson_out(
    lesson: Lesson, user_id: str, score: float, components: ComponentsOut
) -> RecalledLessonOut:
    return RecalledLessonOut(
        id=lesson.id,
        user_id=None if lesson.subject_id is None else user_id,
        text=lesson.text,
        type=LESSON,
        evidence=lesson.evidence,
        applies_to=list(lesson.applies_to),
        recorded_at=lesson.recorded_at,
        status="active",
        score=score,
        components=components,
    )


def _components(found: Components) -> ComponentsOut:
    return ComponentsOut.model_validate(found, from_attributes=True)

"""``/policies``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat

from service.domain.policy import Policy
from service.http.schemas.common import AnswerModel, ListAnswer, Name, RequestModel, ShortName

EXAMPLE: dict[str, Any] = {
    "name": "strict",
    "version": "1",
    "store_threshold": 0.8,
    "guards": {"secret": "reject", "toxicity": "reject"},
}
LEGACY_EXAMPLE: dict[str, Any] = {
    "name": "default",
    "version": "1.0",
    "store_threshold": 0.5,
    "reject_on": ["contradicts"],
    "overwrite_requires_faithful": True,
    "min_relatedness": 0.58,
    "check_attribution": True,
}


Share = Annotated[StrictFloat, Field(ge=0, le=1)]
"""A number from 0 to 1."""

Names = list[Name]


class PolicyRequest(RequestModel):
    """A policy; what is left out takes the built-in policy's value.

    A MiniEval policy (`reject_on` names "contradicts") is recognised and keeps its fingerprint.
    """

    name: ShortName | None = None
    version: ShortName | None = None
    store_threshold: Share | None = None
    contradiction_threshold: Share | None = None
    reject_on: Names | None = Field(None, description="Reason codes that become REJECT.")
    min_relatedness: Share | None = None
    check_attribution: StrictBool | None = None
    guards: dict[Name, Name] | None = Field(
        None, description="What each guard may do: `review`, `off` or, for some, `reject`."
    )
    toxicity_threshold: Share | None = None
    overwrite_requires_faithful: StrictBool | None = None
    overwrite_margin: Share | None = None
    authority_order: Names | None = None
    recall_threshold: Share | None = None
    alpha: Share | None = None
    beta: Share | None = None
    conflict_threshold: Share | None = None
    languages: Names | None = Field(None, description="ISO 639-1 codes.")

    def body(self) -> dict[str, Any]:
        """Return what was given."""
        return self.model_dump(exclude_unset=True)


class DefaultRequest(RequestModel):
    """Which policy applies when a request names none."""

    fingerprint: Name = Field(description="A stored policy's fingerprint.")


class PolicyOut(AnswerModel):
    """One immutable version of a policy."""

    name: str
    version: str
    fingerprint: str
    legacy_fingerprint: str | None = Field(description="MiniEval's fingerprint, if imported.")
    is_default: bool
    body: dict[str, Any] = Field(description="Exactly what the fingerprint covers.")


class PolicyListOut(ListAnswer[PolicyOut]):
    """The tenant's policies, newest first."""


class DifferenceOut(AnswerModel):
    """One field in which two policies differ."""

    field: str
    a: Any
    b: Any


class DiffOut(AnswerModel):
    """How two policies differ."""

    a: str
    b: str
    differences: list[DifferenceOut]


def policy_out(policy: Policy, default: str) -> PolicyOut:
    """Return a policy as it is shown."""
    return PolicyOut(
        name=policy.name,
        version=policy.version,
        fingerprint=policy.fingerprint,
        legacy_fingerprint=policy.legacy_fingerprint,
        is_default=policy.fingerprint == default,
        body=policy.body(),
    )

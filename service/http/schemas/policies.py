"""``/policies``."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from service.domain.policy import Policy
from service.http.schemas.common import AnswerModel, ListAnswer, Name, RequestModel

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

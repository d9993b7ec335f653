"""``/health`` and ``/ready``."""

from __future__ import annotations

from typing import Literal

from service.http.schemas.common import AnswerModel
from service.usecases.readiness import ReadinessReport


class HealthOut(AnswerModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"
    version: str


class ComponentOut(AnswerModel):
    """One part of the service."""

    name: str
    ok: bool
    detail: str


class ReadyOut(AnswerModel):
    """Whether the service can do its work."""

    ready: bool
    components: list[ComponentOut]
    warnings: list[str]


def ready_out(report: ReadinessReport) -> ReadyOut:
    """Return a readiness report as it is shown."""
    return ReadyOut(
        ready=report.ready,
        components=[ComponentOut(name=c.name, ok=c.ok, detail=c.detail) for c in report.components],
        warnings=list(report.warnings),
    )

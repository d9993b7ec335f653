"""What the HTTP layer is handed when the service starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypedDict

from service.http.workers import WorkerPool
from service.usecases.attributes import ManageAttributes
from service.usecases.authenticate import Keyring
from service.usecases.check import CheckFacts
from service.usecases.checkpoints import Checkpoints
from service.usecases.conflicts import ManageConflicts
from service.usecases.drift import FindDrift
from service.usecases.erasure.services import ErasureServices
from service.usecases.evaluate import Evaluate
from service.usecases.export_log import ExportLog
from service.usecases.export_user import ExportUser
from service.usecases.lessons import ManageLessons
from service.usecases.lineage import ChangeMemory
from service.usecases.memories import ReadMemories
from service.usecases.policies import ManagePolicies
from service.usecases.read_audit import ReadAudit
from service.usecases.readiness import Readiness
from service.usecases.recall import RecallMemories
from service.usecases.receipts import ReadReceipts
from service.usecases.remember import Remember
from service.usecases.report import BuildReport
from service.usecases.report_rendering import Rendering
from service.usecases.reviews import ManageReviews
from service.usecases.supersede import Supersede
from service.usecases.weigh_facts import WeighFacts


class Metrics(Protocol):
    """Where routes and middleware count."""

    def decided(self, verdict: str, reason_code: str) -> None:
        """Count a decision."""
        ...

    def remembered(self, status: str) -> None:
        """Count what became of something that was to be remembered."""
        ...

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request and its time."""
        ...

    def measured(self, *, busy: int, log_size: int) -> None:
        """Keep the current depth of the queue and size of the log."""
        ...

    def signed(self, *, age_seconds: float | None, uncovered: int, read_only: bool) -> None:
        """Keep how old the last checkpoint is, and how many entries it does not cover."""
        ...

    def render(self) -> bytes:
        """Return everything in Prometheus's text format."""
        ...


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """How large a request may be, in characters, items and (the body) bytes."""

    source: int = 32_000
    fact: int = 2_000
    messages: int = 200
    batch: int = 256
    body: int = 2_000_000


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What is decided before the service starts."""

    metrics: Metrics
    keyring: Keyring = field(default_factory=Keyring)
    limits: HttpLimits = field(default_factory=HttpLimits)
    allowed_hosts: frozenset[str] | None = None
    threads: int = 16
    queue: int = 256


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases that routes call."""

    check: CheckFacts
    evaluate: Evaluate
    policies: ManagePolicies
    audit: ReadAudit
    readiness: Readiness
    weigh: WeighFacts
    remember: Remember
    supersede: Supersede
    change: ChangeMemory
    memories: ReadMemories
    conflicts: ManageConflicts
    reviews: ManageReviews
    drift: FindDrift
    lessons: ManageLessons
    attributes: ManageAttributes
    export: ExportUser
    export_log: ExportLog
    report: BuildReport
    renderings: Mapping[str, Rendering]
    recall: RecallMemories
    receipts: ReadReceipts
    erasure: ErasureServices
    checkpoints: Checkpoints


class State(TypedDict):
    """The lifespan state: what every request can reach."""

    services: Services
    options: HttpOptions
    workers: WorkerPool

"""What the HTTP layer is handed when the service starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypedDict

from service.http.workers import WorkerPool
from service.usecases.authenticate import Keyring
from service.usecases.check import CheckFacts
from service.usecases.policies import ManagePolicies
from service.usecases.read_audit import ReadAudit
from service.usecases.readiness import Readiness


class Metrics(Protocol):
    """Where routes and middleware count."""

    def decided(self, verdict: str, reason_code: str) -> None:
        """Count a decision."""
        ...

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request and its time."""
        ...

    def measured(self, *, busy: int, log_size: int) -> None:
        """Keep the current depth of the queue and size of the log."""
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
    policies: ManagePolicies
    audit: ReadAudit
    readiness: Readiness


class State(TypedDict):
    """The lifespan state: what every request can reach."""

    services: Services
    options: HttpOptions
    workers: WorkerPool

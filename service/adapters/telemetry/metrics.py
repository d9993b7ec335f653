"""Prometheus metrics in a registry of their own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class PrometheusMetrics:
    """What ``GET /metrics`` shows; labels come from closed sets, never from a request's text."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=True)
        self._decisions = Counter(
            "groundkeeper_decisions",
            "Decisions taken.",
            ["verdict", "reason_code"],
            registry=self._registry,
        )
        self._memories = Counter(
            "groundkeeper_memories",
            "What became of facts that were to be remembered.",
            ["status"],
            registry=self._registry,
        )
        self._requests = Histogram(
            "groundkeeper_http_request_seconds",
            "Time to answer a request.",
            ["method", "route", "status"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._busy = Gauge(
            "groundkeeper_requests_in_workers",
            "Requests being worked on or waiting for a worker thread.",
            registry=self._registry,
        )
        self._log = Gauge(
            "groundkeeper_audit_entries", "Entries in the audit log.", registry=self._registry
        )

    def decided(self, verdict: str, reason_code: str) -> None:
        """Count a decision."""
        self._decisions.labels(verdict, reason_code).inc()

    def remembered(self, status: str) -> None:
        """Count what became of something that was to be remembered."""
        self._memories.labels(status).inc()

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request and its time."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def measured(self, *, busy: int, log_size: int) -> None:
        """Keep the current depth of the queue and size of the log."""
        self._busy.set(busy)
        self._log.set(log_size)

    def render(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self._registry)

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

        self._age = Gauge(
            "groundkeeper_checkpoint_age_seconds",
            "Time since the last checkpoint was signed; NaN if none ever was.",
            registry=self._registry,
        )
        self._uncovered = Gauge(
            "groundkeeper_checkpoint_uncovered_entries",
            "Entries in the audit log that no checkpoint covers yet.",
            registry=self._registry,
        )
        self._read_only = Gauge(
            "groundkeeper_read_only",
            "1 if the log is not the one that was signed, so that nothing is written any more.",
            registry=self._registry,
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

    def signed(self, *, age_seconds: float | None, uncovered: int, read_only: bool) -> None:
        """Keep how old the last checkpoint is, and how many entries it does not cover."""
        self._age.set(float("nan") if age_seconds is None else age_seconds)
        self._uncovered.set(uncovered)
        self._read_only.set(int(read_only))

    def render(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self._registry)

"""Whether the service can do its work, and what is in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from service.domain.errors import GroundkeeperError, Unavailable
from service.ports.storage import Database


@dataclass(frozen=True, slots=True)
class ProbeState:
    """What one component says about itself."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """All components; ``warnings`` do not keep the service from working."""

    components: tuple[ProbeState, ...]
    warnings: tuple[str, ...]

    @property
    def ready(self) -> bool:
        """Return whether every component can serve."""
        return all(c.ok for c in self.components)


class Readiness:
    """The use case behind ``GET /ready``."""

    def __init__(
        self,
        *,
        database: Database,
        probes: Sequence[Callable[[], ProbeState]],
        others: Sequence[Callable[[], ProbeState]] = (),
    ) -> None:
        self._database = database
        self._probes = probes
        self._others = others  # shown, but nothing that every request has to ask for

    def run(self) -> ReadinessReport:
        """Ask every component."""
        state, warnings = self._database_state()
        return ReadinessReport(
            (state, *(probe() for probe in (*self._probes, *self._others))), warnings
        )

    def require_models(self) -> None:
        """Return if all models can serve; raises ``Unavailable`` naming the first that cannot."""
        for probe in self._probes:
            state = probe()
            if not state.ok:
                raise Unavailable(state.name, state.detail)

    def _database_state(self) -> tuple[ProbeState, tuple[str, ...]]:
        try:
            health = self._database.health()
        except GroundkeeperError as error:
            return ProbeState("database", ok=False, detail=str(error)), ()
        detail = (
            f"SQLite {health.engine_version}, {health.journal_mode}, revision {health.revision}"
            if health.at_head
            else f"revision {health.revision} is not the newest"
        )
        return ProbeState("database", ok=health.at_head, detail=detail), health.warnings

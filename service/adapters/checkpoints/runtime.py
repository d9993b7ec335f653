"""The thread that signs checkpoints while the service runs, and the last one when it stops."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import structlog

from service.domain.errors import GroundkeeperError
from service.usecases.checkpoints import Checkpoints
from service.usecases.readiness import ProbeState

__all__ = ["Cadence", "CheckpointRuntime"]

_log = structlog.get_logger("groundkeeper.checkpoints")
_NAME = "checkpoint"


@dataclass(frozen=True, slots=True)
class Cadence:
    """When to sign.

    Attributes:
        entries: so many uncovered entries are signed at the next look.
        seconds: no entry stays uncovered for longer, but for one look.
        poll_seconds: the time between two looks.
    """

    entries: int = 100
    seconds: float = 10.0
    poll_seconds: float = 1.0

    def due(self, uncovered: int, waited: float) -> bool:
        """Return whether to sign now; ``waited`` is in seconds, since the first one was seen."""
        return uncovered >= self.entries or (uncovered > 0 and waited >= self.seconds)


class CheckpointRuntime:
    """Runs ``Checkpoints``: ``open`` before anything is written, ``start`` for the thread."""

    def __init__(self, checkpoints: Checkpoints, cadence: Cadence) -> None:
        self._checkpoints = checkpoints
        self._cadence = cadence
        self._closing = threading.Event()
        self._told: str | None = None
        self._since: float | None = None
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def open(self) -> None:
        """Compare the log with its last checkpoint and sign what is new, before anyone writes."""
        self._checkpoints.start()
        self._sign()

    def start(self) -> None:
        """Begin to sign in the background and return at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread and sign what is not covered yet."""
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._sign()

    def probe(self) -> ProbeState:
        """Return the line of ``/ready``; not ok only where nothing may be written any more."""
        try:
            state = self._checkpoints.state()
        except GroundkeeperError as error:
            return ProbeState(_NAME, ok=False, detail=str(error))
        if state.refused is not None:
            return ProbeState(_NAME, ok=False, detail=f"read-only: {state.refused}")
        covered = 0 if state.last is None else state.last.checkpoint.size
        detail = f"{covered} entries signed, {state.uncovered} not yet"
        if state.trouble is not None:
            detail += f"; the last attempt failed: {state.trouble}"
        if self._thread.ident is not None and not self._thread.is_alive():
            detail += "; its thread has stopped"
        return ProbeState(_NAME, ok=True, detail=detail)

    def _run(self) -> None:
        while not self._closing.wait(self._cadence.poll_seconds):
            try:
                if self._due():
                    self._sign()
            except GroundkeeperError as error:
                self._tell(str(error), refused=False)

    def _due(self) -> bool:
        uncovered = self._checkpoints.uncovered()
        now = time.monotonic()
        if not uncovered:
            self._since = None
        elif self._since is None:
            self._since = now
        return self._cadence.due(uncovered, now - (self._since or now))

    def _sign(self) -> None:
        signed = self._checkpoints.sign()
        if signed is not None:
            self._since, self._told = None, None
            _log.info(
                "checkpoint signed",
                size=signed.checkpoint.size,
                root=signed.checkpoint.root.hex(),
                note=signed.note,
            )
        elif self._checkpoints.refused is not None:
            self._tell(self._checkpoints.refused, refused=True)
        elif self._checkpoints.trouble is not None:
            self._tell(self._checkpoints.trouble, refused=False)

    def _tell(self, reason: str, *, refused: bool) -> None:
        if self._told == reason:
            return
        self._told = reason
        if refused:
            _log.error("checkpoint refused, the log is read-only", reason=reason)
        else:
            _log.error("checkpoint failed, to be tried again", reason=reason)

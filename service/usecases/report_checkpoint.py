"""Where signing stands, as a report says it."""

from __future__ import annotations

from service.usecases.checkpoints import CheckpointState
from service.usecases.report_model import CheckpointStatus


def checkpoint_status(state: CheckpointState) -> CheckpointStatus:
    """Return the status for a report."""
    last = state.last
    return CheckpointStatus(
        size=None if last is None else last.checkpoint.size,
        root=None if last is None else last.checkpoint.root.hex(),
        at=None if last is None else last.stored_at,
        age_seconds=state.age_seconds,
        uncovered=state.uncovered,
        problem=state.refused or state.trouble,
    )

"""The life of a memory: each function returns the memory as it is after one step.

A memory is active, superseded, retracted or deleted. Only an active one can be superseded or
retracted; anything but a deleted one can be deleted; what is not active can be restored.
``replaced_by`` always leads, step by step, to the one memory that counts now: it is set when a
memory is superseded and cleared when it becomes active again, so it never runs in a circle.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from service.domain.errors import Conflict
from service.domain.memory import Memory, MemoryStatus

_ACTIVE = MemoryStatus.ACTIVE


def superseded(
    memory: Memory, *, by: str, reason: str, at: datetime, until: datetime | None
) -> Memory:
    """Return the memory after another took its place; raises ``Conflict`` unless it is active."""
    _require_active(memory)
    return replace(
        memory,
        status=MemoryStatus.SUPERSEDED,
        replaced_by=by,
        supersession_reason=reason,
        valid_to=_closed(memory, until or at),
        superseded_at=at,
        updated_at=at,
        contested=False,
    )


def retracted(memory: Memory, *, reason: str, at: datetime, until: datetime | None) -> Memory:
    """Return the memory after it stopped being true; raises ``Conflict`` unless it is active."""
    _require_active(memory)
    return replace(
        memory,
        status=MemoryStatus.RETRACTED,
        supersession_reason=reason,
        valid_to=_closed(memory, until or at),
        superseded_at=at,
        updated_at=at,
        contested=False,
    )


def deleted(memory: Memory, *, at: datetime) -> Memory:
    """Return the memory after a soft delete; raises ``Conflict`` if it is deleted already."""
    if memory.status is MemoryStatus.DELETED:
        raise Conflict("This memory is deleted already.")
    ended = memory.superseded_at or at
    return replace(
        memory,
        status=MemoryStatus.DELETED,
        superseded_at=ended,
        updated_at=at,
        contested=False,
    )


def restored(memory: Memory, *, at: datetime) -> Memory:
    """Return the memory active again; raises ``Conflict`` if it is so already.

    The end of its validity is forgotten if it was this memory's retirement that set it.
    """
    if memory.status is _ACTIVE:
        raise Conflict("This memory is active already.")
    return replace(
        memory,
        status=_ACTIVE,
        replaced_by=None,
        supersession_reason=None,
        valid_to=None if memory.supersession_reason else memory.valid_to,
        superseded_at=None,
        updated_at=at,
    )


def contested(memory: Memory, *, at: datetime, value: bool) -> Memory:
    """Return the memory with the mark of an open conflict set or taken away."""
    return replace(memory, contested=value, updated_at=at)


def _closed(memory: Memory, until: datetime) -> datetime:
    """Return the end of an interval: an earlier known one stays, and none ends before it began."""
    if memory.valid_to is not None and memory.valid_to < until:
        return memory.valid_to
    return max(until, memory.valid_from) if memory.valid_from else until


def _require_active(memory: Memory) -> None:
    if memory.status is MemoryStatus.SUPERSEDED:
        raise Conflict(f"This memory was replaced by {memory.replaced_by}; change that one.")
    if memory.status is not _ACTIVE:
        raise Conflict(f"This memory is {memory.status.value}; restore it first.")

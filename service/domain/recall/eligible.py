"""Which memories a query may see: scope, type, status and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.memory import Memory, MemoryAction, MemoryEvent, MemoryStatus, MemoryType
from service.domain.recall.outline import Outline, Outlines

Cut = Callable[[MemoryEvent], bool]
_HISTORY = frozenset({MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED, MemoryStatus.RETRACTED})
_ACTIVE = frozenset({MemoryStatus.ACTIVE})
_NEVER = frozenset({None})


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows a recall; all given conditions hold.

    Attributes:
        types: only these kinds of memory; empty means every kind.
        include_superseded: what was replaced or retracted as well.
        as_of: what was known here at that time.
        valid_at: what held in the world at that time, even if it was replaced since.
        since: said at or after this time.
        until: said before this time.
    """

    agent_id: str | None = None
    session_id: str | None = None
    types: frozenset[str] = frozenset()
    include_superseded: bool = False
    as_of: datetime | None = None
    valid_at: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None


_NO_FILTERS = Filters()


def eligible(memories: Outlines, filters: Filters, now: datetime) -> list[bool]:
    """Return for each memory whether it may be recalled; ``now`` is the time of the question."""
    if filters == _NO_FILTERS and _all_last(memories):
        return [True] * len(memories)
    return [is_eligible(m, filters, now) for m in memories]


def _all_last(memories: Outlines) -> bool:
    """Return whether every memory is active and nothing in time ends it."""
    return (
        set(memories.column("status")) <= _ACTIVE
        and set(memories.column("valid_to")) <= _NEVER
        and set(memories.column("expires_at")) <= _NEVER
    )


def is_eligible(memory: Outline, filters: Filters, now: datetime) -> bool:
    """Return whether a memory may be recalled; ``now`` is the time of the question."""
    moment = filters.as_of or now
    return (
        _in_scope(memory, filters)
        and memory.status in _statuses(filters)
        and not (memory.expires_at and memory.expires_at <= moment)
        and _holds(memory, filters, moment)
        and not (filters.since and memory.observed_at < filters.since)
        and not (filters.until and memory.observed_at >= filters.until)
    )


def as_it_was(memory: Memory, steps: Sequence[MemoryEvent], seen: Cut) -> Memory | None:
    """Return a memory after only those of its steps that count; None before it was made.

    Texts never change; status, lineage and the mark of a conflict are rebuilt from the history, the
    end of validity as in ``memory_state.restored``.
    """
    known = [s for s in steps if seen(s)]
    if not known:
        return None
    marks = [s.action for s in known if s.action in (MemoryAction.CONTESTED, MemoryAction.SETTLED)]
    status = known[-1].status
    active = status is MemoryStatus.ACTIVE
    contested = active and marks[-1:] == [MemoryAction.CONTESTED]
    if status is memory.status and not active:
        return replace(memory, contested=contested)
    ended = next((s for s in reversed(known) if s.status is not MemoryStatus.ACTIVE), None)
    closed = memory.supersession_reason is not None
    return replace(
        memory,
        status=status,
        contested=contested,
        replaced_by=None if active or ended is None else ended.other_id,
        supersession_reason=None if active or ended is None else ended.reason,
        superseded_at=None if active or ended is None else ended.at,
        valid_to=None if active and closed else memory.valid_to,
        updated_at=known[-1].at,
    )


def outline_then(outline: Outline, steps: Sequence[MemoryEvent], seen: Cut) -> Outline | None:
    """Return the outline of what ``as_it_was`` returns."""
    last = next((s for s in reversed(steps) if seen(s)), None)
    if last is None:
        return None
    reopened = outline.closed and last.status is MemoryStatus.ACTIVE
    return outline._replace(
        status=last.status,
        valid_to=None if reopened else outline.valid_to,
        closed=outline.closed and not reopened,
    )


def _statuses(filters: Filters) -> frozenset[MemoryStatus]:
    return _HISTORY if filters.include_superseded or filters.valid_at else _ACTIVE


def _in_scope(memory: Outline, filters: Filters) -> bool:
    return (
        filters.agent_id in (None, memory.agent_id)
        and filters.session_id in (None, memory.session_id)
        and (not filters.types or memory.type.value in filters.types)
    )


def _holds(memory: Outline, filters: Filters, moment: datetime) -> bool:
    """Return whether a memory's validity admits it.

    Without ``valid_at``, what has ended is hidden unless history was asked for; an event stays an
    answer after it is over, and what begins later is a plan that may be asked about.
    """
    if filters.valid_at is not None:
        began = memory.valid_from is None or memory.valid_from <= filters.valid_at
        return began and (memory.valid_to is None or filters.valid_at < memory.valid_to)
    if filters.include_superseded or memory.type is MemoryType.EVENT:
        return True
    return memory.valid_to is None or memory.valid_to > moment

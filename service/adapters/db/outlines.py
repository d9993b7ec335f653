"""Outlines of memories as rows, read for all of a user's memories at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from service.adapters.db.columns import moment
from service.adapters.db.memory_rows import STATUSES, TYPES
from service.adapters.db.memory_tables import memories
from service.domain.recall.outline import Outlines

OUTLINED = (
    memories.c.id,
    memories.c.text,
    memories.c.type,
    memories.c.status,
    memories.c.importance,
    memories.c.agent_id,
    memories.c.session_id,
    memories.c.observed_at,
    memories.c.valid_from,
    memories.c.valid_to,
    memories.c.expires_at,
    memories.c.supersession_reason,
)


def outlines_of(rows: Sequence[tuple[Any, ...]]) -> Outlines:
    """Read outlines back; equal names, weights and times of them are one object."""
    if not rows:
        return Outlines()
    ids, texts, kinds, statuses, weights, agents, sessions, *times, reasons = zip(
        *rows, strict=True
    )
    return Outlines(
        (
            ids,
            texts,
            tuple(map(TYPES.__getitem__, kinds)),
            tuple(map(STATUSES.__getitem__, statuses)),
            *(_mapped(column, _same) for column in (weights, agents, sessions)),
            *(_mapped(column, moment) for column in times),
            tuple(reason is not None for reason in reasons),
        )
    )


def _mapped(column: Sequence[Any], read: Callable[[Any], Any]) -> tuple[Any, ...]:
    known = {value: read(value) for value in set(column)}
    return tuple(map(known.__getitem__, column))


def _same(value: Any) -> Any:  # noqa: ANN401 - a text or a number
    return value

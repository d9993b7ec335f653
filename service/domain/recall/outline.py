"""What recall keeps of memories: enough to find them, a tenth of what it takes to show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import compress
from typing import Any, NamedTuple

from service.domain.memory import Memory, MemoryStatus, MemoryType


class Outline(NamedTuple):
    """A memory as far as ranking and filters look.

    ``closed`` says that something took the memory's place, and set the end of its validity.
    """

    id: str
    text: str
    type: MemoryType
    status: MemoryStatus
    importance: float
    agent_id: str | None
    session_id: str | None
    observed_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    closed: bool


class Outlines:
    """Outlines in columns, as a user has thousands; objects cost more than what they hold."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[Sequence[Any]] = ()) -> None:
        self._columns = tuple(columns) or ((),) * len(Outline._fields)

    @classmethod
    def of(cls, outlines: Iterable[Outline]) -> Outlines:
        """Return outlines in columns."""
        return cls(tuple(zip(*outlines, strict=True)))

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, place: int) -> Outline:
        return Outline(*(column[place] for column in self._columns))

    def __iter__(self) -> Iterator[Outline]:
        return map(Outline._make, zip(*self._columns, strict=True))

    def column(self, name: str) -> Sequence[Any]:
        """Return one attribute of all of them."""
        return self._columns[Outline._fields.index(name)]

    def only(self, chosen: Sequence[bool]) -> Outlines:
        """Return those that are chosen; ``chosen`` has one truth for each."""
        return Outlines([tuple(compress(column, chosen)) for column in self._columns])

    def put(self, changed: Mapping[int, Outline], added: Sequence[Outline]) -> Outlines:
        """Return these with some replaced, by their place, and more after them."""
        columns = [list(column) for column in self._columns]
        for place, outline in changed.items():
            for column, value in zip(columns, outline, strict=True):
                column[place] = value
        for outline in added:
            for column, value in zip(columns, outline, strict=True):
                column.append(value)
        return Outlines(list(map(tuple, columns)))


def outline_of(memory: Memory) -> Outline:
    """Return what recall keeps of a memory."""
    owner = memory.owner
    return Outline(
        id=memory.id,
        text=memory.text,
        type=memory.type,
        status=memory.status,
        importance=memory.importance,
        agent_id=owner.agent_id,
        session_id=owner.session_id,
        observed_at=memory.observed_at,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        expires_at=memory.expires_at,
        closed=memory.supersession_reason is not None,
    )

"""What a verifier is given: rows of the log, its head, and the state of the file they came from.

Everything here is untrusted input. A row can come from a database or from an export.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Body:
    """A text kept outside the hash, with the salt that binds it to its entry's commitment."""

    salt: bytes
    text: str


class Unreadable(StrEnum):
    """Why a body that is there cannot be read.

    ``LOCKED``: it is encrypted and the verifier was given no keys, so nothing can be said about it.
    ``KEY_GONE``: keys were given, its own is not among them; the text is lost.
    ``DAMAGED``: its key is there and does not decrypt it; it was changed.
    """

    LOCKED = "locked"
    KEY_GONE = "key gone"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class UnreadableBody:
    """A body that is stored but cannot be read back."""

    why: Unreadable


AnyBody: TypeAlias = Body | UnreadableBody


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One entry as stored: the hashed bytes, the leaf hash beside them (hex), and its bodies.

    ``columns`` are the copies a database keeps beside the bytes to search by (``ts``, ``kind``,
    ``subject``, ``verdict``, ``decision_id``); ``None`` where there are none, as in an export.
    """

    seq: int
    entry: bytes
    leaf: str
    bodies: Mapping[str, AnyBody] = field(default_factory=dict)
    columns: Mapping[str, str | None] | None = None

    def readable(self) -> dict[str, Body]:
        """Return the bodies that can be read."""
        return {name: body for name, body in self.bodies.items() if isinstance(body, Body)}


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log: ``size`` entries (the last is ``size - 1``) and the last leaf (hex).

    Of an empty log, ``leaf`` is the genesis hash. ``ts`` repeats the time of the last entry (empty
    without one), ``None`` where it is not known.
    """

    size: int
    leaf: str
    origin: str
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """What the storage says about itself: its own complaints, and the guards it has and should."""

    problems: tuple[str, ...]
    triggers: Mapping[str, str]
    expected_triggers: Mapping[str, str]


class DecisionRow(NamedTuple):
    """A decision as the business table has it; ``seq`` is the entry that has to say the same."""

    tenant: str
    id: str
    kind: str
    seq: int
    subject: str | None
    verdict: str
    reason_code: str
    policy: str


class StepRow(NamedTuple):
    """A step in a memory's history; ``seq`` is the entry that has to say the same, -1 for none."""

    tenant: str
    memory_id: str
    action: str
    seq: int
    subject: str | None
    actor: str


@dataclass(frozen=True, slots=True)
class StateRow:
    """What a business table holds about one thing that entries name first in ``memory``.

    ``what`` is ``memory``, ``conflict``, ``review`` or ``lesson``. ``digest`` is the SHA-256 (hex)
    of what the row says now, computed for this check; ``stored`` is the digest kept in the row
    itself, ``None`` where none is kept. ``digest`` is ``None`` for a row that cannot be read.
    ``fault`` is what contradicts the row elsewhere in the tables, in words.
    """

    tenant: str
    what: str
    id: str
    subject: str | None
    digest: str | None
    stored: str | None = None
    fault: str | None = None


class TreeRows(Protocol):
    """The stored complete subtrees of level 1 and up."""

    def levels(self) -> tuple[int, ...]:
        """Return the levels of which anything is stored."""
        ...

    def nodes(self, level: int) -> Iterator[tuple[int, bytes]]:
        """Go through the (index, hash) of one level, by index."""
        ...


class BusinessRows(Protocol):
    """The business tables of every tenant."""

    def decisions(self) -> Iterator[DecisionRow]:
        """Go through all decisions, by ``seq``."""
        ...

    def steps(self) -> Iterator[StepRow]:
        """Go through the history of all memories, by ``seq``."""
        ...

    def states(self) -> Iterator[StateRow]:
        """Go through everything whose state is in the log."""
        ...

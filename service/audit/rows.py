"""What a verifier is given: rows of the log, its head, and the state of the file they came from.

Everything here is untrusted input. A row can come from a database or from an export.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Body:
    """A text kept outside the hash, with the salt that binds it to its entry's commitment."""

    salt: bytes
    text: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One entry as stored: the hashed bytes, the leaf hash beside them (hex), and its bodies.

    ``columns`` are the copies a database keeps beside the bytes to search by (``ts``, ``kind``,
    ``subject``, ``verdict``, ``decision_id``); ``None`` where there are none, as in an export.
    """

    seq: int
    entry: bytes
    leaf: str
    bodies: Mapping[str, Body] = field(default_factory=dict)
    columns: Mapping[str, str | None] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log: ``size`` entries (the last is ``size - 1``) and the last leaf (hex).

    Of an empty log, ``leaf`` is the genesis hash.
    """

    size: int
    leaf: str
    origin: str


@dataclass(frozen=True, slots=True)
class FileState:
    """What the storage says about itself: its own complaints, and the guards it has and should."""

    problems: tuple[str, ...]
    triggers: Mapping[str, str]
    expected_triggers: Mapping[str, str]

"""The audit log as it is stored; reached through a ``Transaction`` of ``service.ports.storage``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from service.audit.entry import EntryDraft
from service.audit.rows import AuditRow, Body, BusinessRows, FileState, Head
from service.ports.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an entry landed: its number, its leaf hash (hex) and its time.

    ``checkpoint`` is the last signed note when it was appended, which does not cover it yet.
    """

    seq: int
    entry_hash: str
    ts: datetime
    checkpoint: str | None = None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries to list; all given conditions hold. ``since`` is inclusive, ``until`` is not.

    ``action`` is the kind of entry, for example ``check.decided``.
    """

    subject_id: str | None = None
    verdict: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditStore(Protocol):
    """The append-only log. Reading entries is per tenant; verifying is over the whole log."""

    def next_seq(self) -> int:
        """Return the number that the next ``append`` in this write will get."""
        ...

    def append(self, draft: EntryDraft, bodies: Mapping[str, Body]) -> Appended:
        """Seal the draft as the next entry; the last thing a closure does.

        ``draft.actor`` must be the scope's actor. Every body must open the commitment of its name;
        with a subject every commitment needs its body, without a subject there are no bodies.
        Raises ``InvalidInput`` for a draft that breaks the format.
        """
        ...

    def get(self, seq: int) -> AuditRow | None:
        """Return one of this tenant's entries, with its bodies."""
        ...

    def entries(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        """Return the hashed bytes of those of this tenant's entries that exist, by number."""
        ...

    def list(self, which: AuditFilter, page: PageRequest) -> Page[AuditRow]:
        """List this tenant's entries with their bodies, newest first.

        Raises ``InvalidInput`` for a cursor that did not come from here.
        """
        ...

    def after(self, which: AuditFilter, seq: int, limit: int) -> Sequence[AuditRow]:
        """Return this tenant's next entries after number ``seq``, in order, with their bodies.

        -1 starts at the first. Fewer than ``limit`` are the last.
        """
        ...

    def head(self) -> Head:
        """Return the end of the whole log."""
        ...

    def node(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree of the log's Merkle tree (RFC 6962).

        ``level`` 0 is the leaf hash of entry ``index``; see ``service.audit.tree``. Raises
        ``Unavailable`` for one that is not there.
        """
        ...

    def root(self, size: int | None = None) -> bytes:
        """Return the root over the first ``size`` entries of the whole log, by default over all.

        Raises ``InvalidInput`` for a size the log does not have.
        """
        ...

    def nodes(self, level: int) -> Iterator[tuple[int, bytes]]:
        """Go through the stored (index, hash) of one level from 1 up, for verifying."""
        ...

    def levels(self) -> tuple[int, ...]:
        """Return the levels of which anything is stored, for verifying."""
        ...

    def scan(self) -> Iterator[AuditRow]:
        """Go through every tenant's entries in order, with bodies and columns, for verifying."""
        ...

    def tables(self) -> BusinessRows:
        """Return the business tables of every tenant, for comparing with the log."""
        ...

    def file_state(self) -> FileState:
        """Ask the storage to check itself, and list the log's guards (slow: reads everything)."""
        ...

"""The hash chain: each entry names the leaf hash of the one before it.

Leaf hashes are those of RFC 6962, section 2.1 (a 0x00 byte before the entry), so that the same
leaves carry a Merkle tree. The number is inside the hash: an entry that is taken out cannot be
papered over by linking its neighbours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import islice

from service.audit.entry import Entry, parse_entry
from service.audit.errors import VerificationError
from service.audit.rows import AuditRow, Head

GENESIS_LABEL = b"groundkeeper/audit/v1/genesis\x00"
MISSING_LISTED = 10_000
"""At most this many numbers of one gap are listed; a forged number must not fill the memory."""


def leaf_hash(data: bytes) -> str:
    """Return the RFC 6962 leaf hash of an entry's bytes, in hex."""
    return hashlib.sha256(b"\x00" + data).hexdigest()


def genesis(origin: str) -> str:
    """Return what the first entry of the log called ``origin`` has as ``prev``."""
    name = origin.encode("utf-8", "surrogateescape")  # a damaged one must not stop a verification
    return hashlib.sha256(GENESIS_LABEL + name).hexdigest()


def search_columns(entry: Entry) -> dict[str, str | None]:
    """Return the copies of an entry's fields that a database keeps beside it to search by."""
    decision = entry.draft.decision or {}
    verdict, decision_id = decision.get("verdict"), decision.get("id")
    return {
        "tenant": entry.draft.actor.partition(":")[0],
        "ts": entry.ts,
        "kind": entry.draft.kind,
        "subject": entry.draft.subject,
        "verdict": verdict if isinstance(verdict, str) else None,
        "decision_id": decision_id if isinstance(decision_id, str) else None,
    }


class ChainCheck:
    """Follows a log from its genesis; feed it every row in order, then ``finish``.

    ``broken`` are entries that were changed, ``compromised`` untouched ones downstream of a change
    or a gap, ``missing`` numbers without an entry. Where two neighbours do not fit, the one that
    its successor (or the head) does not vouch for is the one that was changed.
    """

    def __init__(self, origin: str) -> None:
        self.broken: dict[int, str] = {}
        self.compromised: set[int] = set()
        self.missing: list[int] = []
        self.total = 0
        self.leaf = b""
        self.head_fault: str | None = None
        self._origin = origin
        self._last = genesis(origin)
        self._last_ts = ""
        self._next = 0
        self._suspect: int | None = None
        self._tainted = False

    def feed(self, row: AuditRow) -> Entry | None:
        """Check the next row; returns its entry unless it is unreadable.

        ``leaf`` is then the leaf hash that its bytes have.
        """
        self.total += 1
        self.leaf = hashlib.sha256(b"\x00" + row.entry).digest()
        entry, fault = self._examine(row)
        if row.seq < self._next:
            self.broken[row.seq] = "not in its place"
            return entry
        linked = entry is not None and entry.prev == self._last
        self._settle(vouched=linked)
        if fault is not None:
            self._break(row.seq, fault)
        elif row.seq != self._next:
            self._after_gap(row.seq, joined=linked)
        elif not linked:
            self._unlinked(row.seq)
        elif self._tainted:
            self.compromised.add(row.seq)
        self._skip_to(row.seq)
        self._next, self._last = row.seq + 1, row.leaf
        return entry

    def finish(self, head: Head | None) -> None:
        """Compare the end of the log with what its head says."""
        self._settle(vouched=head is not None and head.leaf == self._last)
        if head is None:
            return
        if head.origin != self._origin:
            self.head_fault = "the head belongs to another log"
        elif head.size < self._next:
            self.head_fault = "there are entries beyond the head"
        elif head.size > self._next:
            self._skip_to(head.size)
        elif head.leaf != self._last:
            self.head_fault = "the last entry is not the one the head names"
        elif head.ts not in (None, self._last_ts):
            self.head_fault = "the time at the head is not that of the last entry"

    def _examine(self, row: AuditRow) -> tuple[Entry | None, str | None]:
        try:
            entry = parse_entry(row.entry)
        except VerificationError as error:
            return None, str(error)
        fault = self._fault(row, entry)
        if fault is None:
            self._last_ts = entry.ts
        return entry, fault

    def _fault(self, row: AuditRow, entry: Entry) -> str | None:
        if row.leaf != self.leaf.hex():
            return "the bytes do not have the stored hash"
        if entry.seq != row.seq:
            return "not in its place"
        if entry.log != self._origin:
            return "an entry of another log"
        if entry.ts < self._last_ts:
            return "earlier than the entry before it"
        if row.columns is not None and not _agree(row.columns, entry):
            return "the search columns do not repeat the entry"
        return None

    def _break(self, seq: int, fault: str) -> None:
        self.broken[seq] = fault
        self._tainted = True

    def _after_gap(self, seq: int, *, joined: bool) -> None:
        if joined:
            self._break(seq, "linked across missing entries")
        else:
            self.compromised.add(seq)
            self._tainted = True

    def _unlinked(self, seq: int) -> None:
        if seq == 0:
            self._break(seq, "does not start from the genesis of this log")
        elif seq - 1 in self.broken:
            self.compromised.add(seq)
        else:
            self._suspect = seq

    def _settle(self, *, vouched: bool) -> None:
        suspect, self._suspect = self._suspect, None
        if suspect is None:
            return
        if vouched:
            self._break(suspect - 1, "its successor names another hash")
            self.compromised.add(suspect)
        else:
            self._break(suspect, "does not name the hash of the entry before it")

    def _skip_to(self, seq: int) -> None:
        self.missing.extend(islice(range(self._next, seq), MISSING_LISTED))


def _agree(columns: Mapping[str, str | None], entry: Entry) -> bool:
    return columns == search_columns(entry)

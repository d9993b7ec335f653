"""Verifying a MiniEval audit log, and saying what its chain cannot show.

The format is JSON Lines. Each entry has its content, ``prev_hash`` and ``entry_hash``. Its rule:
SHA-256 of the previous entry's hash (hex digits, as text) followed by the JSON of all other fields,
with sorted keys, no blanks, and characters outside ASCII as they are, in UTF-8. The first entry's
``prev_hash`` is 64 zeros. Source: ``AuditLog`` of MiniEval 1.2.1.

This verification is stricter than the original's, which starts a new chain behind an entry without
hashes and takes any ``prev_hash`` for the first: here an entry without hashes is never verified, it
does not start anything anew, and the first entry has to be a first one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

GENESIS: Final = "0" * 64
_HASHES: Final = frozenset({"prev_hash", "entry_hash"})

NOT_EXCLUDED: Final = (
    "Truncation: entries cut off the end leave no trace in this format; compare the number of "
    "entries, or the last entry_hash, with what somebody noted elsewhere.",
    "Rewriting: there is no key and no signature, so whoever can write the file can change any "
    "entry and recompute every hash after it.",
    "A new beginning: entries cut off the start and the rest re-linked from 64 zeros look like a "
    "log that began later.",
)
"""What no verification of such a file can exclude, however well it looks."""


class Standing(StrEnum):
    """What the chain says about one entry."""

    VERIFIED = "verified"
    BROKEN = "broken"
    COMPROMISED = "compromised"
    UNHASHED = "unhashed"


@dataclass(frozen=True, slots=True)
class MiniEvalEntry:
    """One entry: its number among the lines (from 0), its line, its fields, and its standing."""

    index: int
    line: bytes
    fields: Mapping[str, Any]
    standing: Standing

    @property
    def digest(self) -> str:
        """Return the hash that names it: its own where that is right, else SHA-256 of its line."""
        own = self.fields.get("entry_hash")
        if self.standing in (Standing.VERIFIED, Standing.COMPROMISED) and isinstance(own, str):
            return own
        return hashlib.sha256(self.line).hexdigest()


@dataclass(frozen=True, slots=True)
class MiniEvalReport:
    """What was found; all numbers count lines from 0, blank ones left out.

    ``broken_at`` are entries that were changed or do not follow the one before them,
    ``compromised`` right in themselves but behind such a one or behind a missing start,
    ``unhashed`` without hashes, ``malformed`` lines that are no entries. ``reason`` is ``intact``
    or a code for the first thing found wrong. ``head_missing`` says that the first entry names one
    before it. ``not_excluded`` holds also for a log that is intact.
    """

    ok: bool
    total: int
    verified: int
    broken_at: tuple[int, ...]
    compromised: tuple[int, ...]
    unhashed: tuple[int, ...]
    malformed: tuple[int, ...]
    head_missing: bool
    last_hash: str | None
    reason: str
    not_excluded: tuple[str, ...] = NOT_EXCLUDED


def verify_minieval(lines: Iterable[bytes]) -> tuple[tuple[MiniEvalEntry, ...], MiniEvalReport]:
    """Return the entries of a log, each with its standing, and the report on all of it."""
    chain = _Chain()
    for line in lines:
        if line.strip():
            chain.feed(line.strip())
    return tuple(chain.entries), chain.report()


class _Chain:
    """Follows the hashes from the first entry on."""

    def __init__(self) -> None:
        self.entries: list[MiniEvalEntry] = []
        self._malformed: list[int] = []
        self._expected: str = GENESIS
        self._begun = self._tainted = self._head_missing = False
        self._last: str | None = None

    def feed(self, line: bytes) -> None:
        index = len(self.entries) + len(self._malformed)
        fields = _parse(line)
        if fields is None:
            self._malformed.append(index)
            return
        self.entries.append(MiniEvalEntry(index, line, fields, self._standing(fields)))

    def report(self) -> MiniEvalReport:
        by: dict[Standing, list[int]] = {standing: [] for standing in Standing}
        for entry in self.entries:
            by[entry.standing].append(entry.index)
        found = {
            "empty": not self.entries and not self._malformed,
            "chain_broken": bool(by[Standing.BROKEN]),
            "head_missing": self._head_missing,
            "unhashed_entries": bool(by[Standing.UNHASHED]),
            "malformed_lines": bool(self._malformed),
        }
        reason = next((code for code, wrong in found.items() if wrong), "intact")
        return MiniEvalReport(
            ok=reason == "intact",
            total=len(self.entries) + len(self._malformed),
            verified=len(by[Standing.VERIFIED]),
            broken_at=tuple(by[Standing.BROKEN]),
            compromised=tuple(by[Standing.COMPROMISED]),
            unhashed=tuple(by[Standing.UNHASHED]),
            malformed=tuple(self._malformed),
            head_missing=self._head_missing,
            last_hash=self._last,
            reason=reason,
        )

    def _standing(self, fields: Mapping[str, Any]) -> Standing:
        if not fields.keys() >= _HASHES:
            return Standing.UNHASHED
        prev, own = fields["prev_hash"], fields["entry_hash"]
        texts = isinstance(prev, str) and isinstance(own, str)
        sound = texts and own == chain_hash(prev, fields)
        if not self._begun:
            self._begun = True
            self._head_missing = self._tainted = sound and prev != GENESIS
            self._expected = prev if sound else GENESIS
        follows = sound and prev == self._expected
        self._expected = self._last = own if isinstance(own, str) else ""
        if not follows:
            self._tainted = True
            return Standing.BROKEN
        return Standing.COMPROMISED if self._tainted else Standing.VERIFIED


def chain_hash(prev: str, fields: Mapping[str, Any]) -> str | None:
    """Return the hash of an entry that follows ``prev``; ``None`` for what cannot be hashed."""
    content = {name: value for name, value in fields.items() if name not in _HASHES}
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256((prev + text).encode()).hexdigest()
    except (UnicodeEncodeError, ValueError, RecursionError):
        return None


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a field that comes twice: one of the two is hashed, a reader may take the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field that comes twice")
    return found

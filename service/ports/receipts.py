"""Receipts of recalls in SQL, and what recall and verification ask the tables besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ReceiptRecord:
    """One receipt as it was handed out; ``body`` is its canonical JSON with the signature."""

    id: str
    subject_id: str | None
    body: str
    memory_ids: tuple[str, ...]
    recorded_at: datetime


class ReceiptStore(Protocol):
    """Receipts of the tenant."""

    def add(self, record: ReceiptRecord) -> None:
        """Store a receipt; raises ``Conflict`` when the id exists."""
        ...

    def get(self, receipt_id: str) -> ReceiptRecord | None:
        """Return one receipt of this tenant."""
        ...

    def forget(self, subject_id: str, memory_ids: Sequence[str] | None = None) -> int:
        """Delete a user's receipts, all or those that name a memory; return how many."""
        ...

    def revision(self, subject_id: str) -> int:
        """Return the last entry about a user, −1 without any: it moves with every change."""
        ...

    def changed(self, subject_id: str, after: int) -> Sequence[str]:
        """Return the memories that entries after this one name, each once, oldest first."""
        ...

    def count(self, subject_id: str) -> int:
        """Return how many memories of any status a user has."""
        ...

    def leaf(self, seq: int) -> str | None:
        """Return the leaf hash of an entry of the whole log."""
        ...

    def erased_since(self, subject_id: str, size: int) -> bool:
        """Return whether anything of a user was erased after the log had this size."""
        ...

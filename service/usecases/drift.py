"""Is what is stored still what was written? Each memory against its hashes, turn and log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.audit.entry import EntryDraft, parse_entry
from service.audit.errors import VerificationError
from service.domain.digests import content_digest, state_digest, text_digest
from service.domain.errors import InvalidInput, NotFound
from service.domain.memory import Memory, Turn
from service.ports.memory import MemoryFilter
from service.ports.storage import AuditFilter, AuditRow, Database, PageRequest, Scope, Transaction

_PAGE = 200


class Drift(StrEnum):
    """Whether something is as it was written; the worst one counts for a group."""

    MATCH = "MATCH"
    DRIFT = "DRIFT"
    UNVERIFIABLE = "UNVERIFIABLE"


@dataclass(frozen=True, slots=True)
class Finding:
    """How one memory compares; ``checks`` by what it was compared with."""

    memory_id: str
    status: Drift
    checks: Mapping[str, Drift]
    reason: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A memory as it is shown, with how it compares."""

    memory: Memory
    drift: Drift


class FindDrift:
    """The use cases behind the drift endpoints."""

    def __init__(self, *, database: Database) -> None:
        self._database = database

    def one(self, scope: Scope, user_id: str, memory_id: str) -> Finding:
        """Compare one memory; raises ``NotFound``, also for somebody else's."""

        def work(tx: Transaction) -> Finding:
            subject = tx.subjects.find(user_id)
            memory = tx.memories.get(subject, memory_id) if subject else None
            if subject is None or memory is None:
                raise NotFound("memory")
            return finding(tx, memory, _logged_states(tx, subject).get(memory_id))

        return self._database.read(scope, work)

    def all(self, scope: Scope, user_id: str) -> tuple[Drift, list[Finding]]:
        """Compare everything about a user, and what the log knows but the tables do not have."""

        def work(tx: Transaction) -> list[Finding]:
            subject = tx.subjects.find(user_id)
            if subject is None:
                return []
            states = _logged_states(tx, subject)
            stored = _every(tx, subject)
            found = [finding(tx, m, states.get(m.id)) for m in stored]
            gone = states.keys() - {m.id for m in stored}
            return found + [_gone(memory_id) for memory_id in sorted(gone)]

        found = self._database.read(scope, work)
        return rolled_up([f.status for f in found]), found


def rolled_up(found: Sequence[Drift]) -> Drift:
    """Return DRIFT if anything drifted, else UNVERIFIABLE if anything is, else MATCH."""
    return next((d for d in (Drift.DRIFT, Drift.UNVERIFIABLE) if d in found), Drift.MATCH)


def finding(tx: Transaction, memory: Memory, logged: str | None) -> Finding:
    """Compare a memory with its own hashes, its turn, its offsets and the log's last digest."""
    turn_id = memory.origin.turn_id
    return compared(memory, tx.turns.get(turn_id) if turn_id else None, logged)


def compared(memory: Memory, turn: Turn | None, logged: str | None) -> Finding:
    """Compare a memory with what was read for it; ``None`` where there is nothing."""
    state = _state(memory)
    checks = {
        "content": _same(content_digest(memory) == memory.content_hash if state else False),
        "state": _same(state == memory.state_hash),
        **_turn_checks(turn, memory),
        "log": Drift.UNVERIFIABLE if logged is None else _same(state == logged),
    }
    status = rolled_up(list(checks.values()))
    wrong = [name for name, value in checks.items() if value is status]
    reason = "as it was written" if status is Drift.MATCH else f"{status}: {', '.join(wrong)}"
    return Finding(memory.id, status, checks, reason)


def as_written(turn: Turn | None, memory: Memory) -> Drift:
    """Compare a memory as this transaction sealed and logged it: only its turn is left to compare.

    Its digests were made of the very values that it holds, so they cannot differ.
    """
    return rolled_up(list(_turn_checks(turn, memory).values()))


def seen_memory(tx: Transaction, memory: Memory) -> Seen:
    """Return a memory with its drift, taking the entry that its history names for its last one."""
    steps = tx.memories.history(memory.owner.subject_id, [memory.id])
    seq = steps[-1].seq if steps else None
    row = tx.audit.get(seq) if seq is not None else None
    draft = _draft(row) if row is not None else None
    logged = draft.state_after if draft and draft.memory[:1] == (memory.id,) else None
    return Seen(memory, finding(tx, memory, logged).status)


def _state(memory: Memory) -> str | None:
    try:
        return state_digest(memory)
    except InvalidInput:  # somebody wrote a value that this service never would
        return None


def _turn_checks(turn: Turn | None, memory: Memory) -> dict[str, Drift]:
    origin = memory.origin
    if turn is None:
        return {"turn": Drift.UNVERIFIABLE, "offsets": Drift.UNVERIFIABLE}
    whole = text_digest(turn.text)
    return {
        "turn": _same(whole == turn.content_hash == origin.content_hash),
        "offsets": _same(turn.text[origin.start : origin.end] == origin.text),
    }


def _same(value: bool) -> Drift:
    return Drift.MATCH if value else Drift.DRIFT


def _logged_states(tx: Transaction, subject_id: str) -> dict[str, str]:
    """Return the last state digest of each memory in the log; an erased one is not among them."""
    found: dict[str, str] = {}
    erased: set[str] = set()
    which, cursor = AuditFilter(subject_id=subject_id), None
    while True:
        page = tx.audit.list(which, PageRequest(_PAGE, cursor))
        for draft in filter(None, map(_draft, page.items)):
            if draft.kind == "erasure.done":
                erased.update(draft.memory)
            elif draft.state_after and draft.memory and draft.memory[0].startswith("mem_"):
                found.setdefault(draft.memory[0], draft.state_after)
        cursor = page.next_cursor
        if cursor is None:
            return {k: v for k, v in found.items() if k not in erased}


def _draft(row: AuditRow) -> EntryDraft | None:
    try:
        return parse_entry(row.entry).draft
    except VerificationError:
        return None


def _every(tx: Transaction, subject_id: str) -> list[Memory]:
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = tx.memories.list(MemoryFilter(subject_id, statuses=()), PageRequest(_PAGE, cursor))
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def _gone(memory_id: str) -> Finding:
    checks = {"row": Drift.DRIFT}
    return Finding(memory_id, Drift.DRIFT, checks, "DRIFT: in the log, but not in the tables")

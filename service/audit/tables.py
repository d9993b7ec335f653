"""The business tables against the log: what they say has to be what the entries say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from service.audit.entry import Entry, EntryDraft
from service.audit.erasures import Erasures, ids_of
from service.audit.rows import BusinessRows, DecisionRow, StateRow, StepRow

_DECIDED: Final = ".decided"
_MEMORY: Final = "memory."
_STATES: Final = (_MEMORY, "conflict.", "review.", "lesson.")
_ACTIONS: Final = {"conflict.marked": "contested", "conflict.resolved": "settled"}


class _Numbered(Protocol):
    @property
    def seq(self) -> int: ...


N = TypeVar("N", bound=_Numbered)


class _Last(NamedTuple):
    """What the log said last about one thing."""

    seq: int
    tenant: str
    subject: str | None
    state: str | None
    ids: tuple[str, ...]


class _ByEntry(Generic[N]):
    """Rows in the order of the entries that they name; those whose turn never came are left."""

    def __init__(self, rows: Iterator[N]) -> None:
        self.left: list[N] = []
        self._rows = rows
        self._next = next(rows, None)

    def take(self, seq: int) -> N | None:
        """Return the row of an entry."""
        row = self._skip_to(seq)
        if row is None or row.seq != seq:
            return None
        self._next = next(self._rows, None)
        return row

    def finish(self) -> None:
        """Put what is left with what was passed over."""
        while self._next is not None:
            self.left.append(self._next)
            self._next = next(self._rows, None)

    def _skip_to(self, seq: int) -> N | None:
        while self._next is not None and self._next.seq < seq:
            self.left.append(self._next)
            self._next = next(self._rows, None)
        return self._next


class TableCheck:
    """Feed it every readable entry in order, then ``finish``.

    Every decision and every step in a memory's history needs its entry, and every memory, conflict,
    review and lesson has to be in the state that the last entry naming it first says; all of it
    also the other way round, unless it was erased.
    """

    def __init__(self, rows: BusinessRows, erasures: Erasures) -> None:
        self.problems: list[str] = []
        self._rows = rows
        self._erasures = erasures
        self._decisions = _ByEntry(rows.decisions())
        self._steps = _ByEntry(rows.steps())
        self._last: dict[str, _Last] = {}
        self._bare: list[tuple[int, EntryDraft]] = []

    def feed(self, seq: int, entry: Entry) -> None:
        """Compare the rows of one entry, and remember the state that it leaves."""
        draft = entry.draft
        decision, step = self._decisions.take(seq), self._steps.take(seq)
        if draft.kind.endswith(_DECIDED) and draft.decision is not None:
            self._compare(f"decision {decision.id}" if decision else None, seq, draft, decision)
        elif decision is not None:
            self._decisions.left.append(decision)
        if not draft.memory or not draft.kind.startswith(_STATES):
            self._steps.left.extend([step] if step is not None else [])
            return
        if step is not None or draft.kind.startswith(_MEMORY):
            self._compare(f"history of {step.memory_id}" if step else None, seq, draft, step)
        tenant = draft.actor.partition(":")[0]
        last = _Last(seq, tenant, draft.subject, draft.state_after, draft.memory)
        self._last[draft.memory[0]] = last

    def finish(self) -> None:
        """Compare the states, and find what is on one side only."""
        self._decisions.finish()
        self._steps.finish()
        for decision in self._decisions.left:
            self._without_entry(f"decision {decision.id}", decision.seq)
        for step in self._steps.left:
            self._without_entry(f"history of {step.memory_id}", step.seq)
        for row in self._rows.states():
            fault = self._state_fault(row, self._last.pop(row.id, None))
            if fault is not None:
                self.problems.append(f"{row.what} {row.id}: {fault}")
        for key, last in self._last.items():
            if not self._erasures.cover(last.seq, last.subject, frozenset(last.ids)):
                self.problems.append(
                    f"{key}: is gone from the tables, entry {last.seq} has it, nothing erased it"
                )
        for seq, draft in self._bare:
            if not self._erasures.cover(seq, draft.subject, ids_of(draft)):
                self.problems.append(f"entry {seq}: its {draft.kind} is gone and was not erased")

    def _without_entry(self, what: str, seq: int) -> None:
        self.problems.append(f"{what}: entry {seq} is not about it, or not there")

    def _compare(
        self, what: str | None, seq: int, draft: EntryDraft, row: DecisionRow | StepRow | None
    ) -> None:
        if row is None:
            self._bare.append((seq, draft))
            return
        logged = _decision(seq, draft) if isinstance(row, DecisionRow) else _step(seq, draft)
        if row != logged:
            pairs = zip(row._fields, row, logged, strict=True)
            wrong = [name for name, stored, said in pairs if stored != said]
            self.problems.append(f"{what}: {', '.join(wrong)} not as entry {seq} says")

    def _state_fault(self, row: StateRow, last: _Last | None) -> str | None:
        if last is None:
            return "there is no entry about it"
        if row.digest is None:
            return "the row cannot be read"
        if (row.tenant, row.subject) != (last.tenant, last.subject):
            return f"it belongs to somebody else than entry {last.seq} says"
        if row.digest != last.state or row.stored not in (None, row.digest):
            return f"its state is not the one of entry {last.seq}"
        return row.fault


def _decision(seq: int, draft: EntryDraft) -> DecisionRow:
    """Return the decision that an entry records."""
    decision = draft.decision or {}
    return DecisionRow(
        tenant=draft.actor.partition(":")[0],
        id=str(decision.get("id")),
        kind=draft.kind.removesuffix(_DECIDED),
        seq=seq,
        subject=draft.subject,
        verdict=str(decision.get("verdict")),
        reason_code=str(decision.get("reason_code")),
        policy=str(draft.policy),
    )


def _step(seq: int, draft: EntryDraft) -> StepRow:
    """Return the step in a memory's history that an entry records."""
    return StepRow(
        tenant=draft.actor.partition(":")[0],
        memory_id=draft.memory[0],
        action=_ACTIONS.get(draft.kind, draft.kind.removeprefix(_MEMORY)),
        seq=seq,
        subject=draft.subject,
        actor=draft.actor,
    )

"""Change what is remembered by an actor's decision: retract, delete, restore."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain import memory_state
from service.domain.attributes import is_functional
from service.domain.check import CheckInput, CheckOutcome
from service.domain.errors import Conflict, NotFound
from service.domain.memory import Memory, MemoryAction, MemoryStatus, Owner
from service.domain.policy import Policy
from service.domain.verdicts import Speaker, Verdict
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Database, Scope, StoredAnswer, Transaction
from service.usecases.decisions import Decision, check_texts, measured, record
from service.usecases.drift import Seen, seen_memory
from service.usecases.gate import Gate
from service.usecases.journal import Journal, Step
from service.usecases.known import active_about, key_of, source_of
from service.usecases.once import Once, earlier_answer, write_once
from service.usecases.policies import find_policy
from service.usecases.statements import Statements

_NOT_ACTIVE = "one of the two is no longer active"


@dataclass(frozen=True, slots=True)
class Which:
    """One memory of one user."""

    user_id: str
    memory_id: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory after an actor's decision, and what made way for it."""

    action: MemoryAction
    memory: Seen
    superseded_ids: tuple[str, ...] = ()


def find_memory(tx: Transaction, which: Which) -> Memory:
    """Return a user's memory; raises ``NotFound`` alike for unknown ids and other people's."""
    subject = tx.subjects.find(which.user_id)
    memory = tx.memories.get(subject, which.memory_id) if subject else None
    if memory is None:
        raise NotFound("memory")
    return memory


class ChangeMemory:
    """The use cases behind retract, delete and restore."""

    def __init__(
        self,
        *,
        gate: Gate,
        statements: Statements,
        database: Database,
        clock: Clock,
        identifiers: Identifiers,
    ) -> None:
        self._gate = gate
        self._statements = statements
        self._database = database
        self._clock = clock
        self._identifiers = identifiers

    def retract(
        self, scope: Scope, which: Which, reason: str, once: Once[Changed] | None = None
    ) -> Changed | StoredAnswer:
        """End a memory; nothing takes its place, and what it had replaced stays replaced."""

        def work(tx: Transaction) -> Changed:
            memory, now = find_memory(tx, which), self._clock.now()
            after = memory_state.retracted(memory, reason=reason, at=now, until=now)
            return self._end(tx, Step(MemoryAction.RETRACTED, after, memory, reason))

        return write_once(self._database, scope, self._clock, once, work)

    def delete(self, scope: Scope, which: Which, reason: str | None = None) -> Changed:
        """Hide a memory; it can be restored. Deleting it again changes nothing."""

        def work(tx: Transaction) -> Changed:
            memory = find_memory(tx, which)
            if memory.status is MemoryStatus.DELETED:
                return Changed(MemoryAction.DELETED, seen_memory(tx, memory))
            after = memory_state.deleted(memory, at=self._clock.now())
            return self._end(tx, Step(MemoryAction.DELETED, after, memory, reason))

        return self._database.write(scope, work)

    def restore(
        self, scope: Scope, which: Which, reason: str, once: Once[Changed] | None = None
    ) -> Changed | StoredAnswer:
        """Make a memory count again, past the gate; what holds its place now is superseded by it.

        Raises:
            NotFound: no such memory.
            Conflict: it is active, its source is gone, or the gate no longer lets it pass.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored
        memory, source, policy = self._database.read(scope, lambda tx: _to_restore(tx, which))
        memory_state.restored(memory, at=self._clock.now())
        stated = source == memory.text
        asked = CheckInput(
            source=self._statements.as_said(source) if stated else source,
            fact=memory.text,
            speaker=Speaker(memory.origin.role),
            observed_at=memory.observed_at,
        )
        check = self._gate.judge([(asked, policy)])[0]
        _require_passing(memory, check)

        def work(tx: Transaction) -> Changed:
            now = find_memory(tx, which)
            changed = self._restore(tx, now, reason)
            record(
                tx,
                now.owner.subject_id,
                self._decision(asked, check, policy, now.id),
                self._clock.now(),
            )
            return changed

        return write_once(self._database, scope, self._clock, once, work)

    def _end(self, tx: Transaction, step: Step) -> Changed:
        journal = self._journal(tx, step.after.owner)
        after = journal.write(step)
        journal.settle(after.id, _NOT_ACTIVE)
        return Changed(step.action, seen_memory(tx, after))

    def _restore(self, tx: Transaction, memory: Memory, reason: str) -> Changed:
        at = self._clock.now()
        journal = self._journal(tx, memory.owner)
        rivals = _rivals(tx, memory)
        other = rivals[0].id if rivals else None
        back = memory_state.restored(memory, at=at)
        after = journal.write(Step(MemoryAction.RESTORED, back, memory, reason, other))
        for rival in rivals:
            gone = memory_state.superseded(rival, by=memory.id, reason=reason, at=at, until=at)
            journal.write(Step(MemoryAction.SUPERSEDED, gone, rival, reason, memory.id))
            journal.settle(rival.id, _NOT_ACTIVE)
        return Changed(MemoryAction.RESTORED, seen_memory(tx, after), tuple(r.id for r in rivals))

    def _journal(self, tx: Transaction, owner: Owner) -> Journal:
        return Journal(tx, owner.subject_id, self._clock.now())

    def _decision(
        self, asked: CheckInput, check: CheckOutcome, policy: Policy, memory_id: str
    ) -> Decision:
        return Decision(
            id=self._identifiers.new("chk"),
            kind="check",
            verdict=check.verdict.value,
            reason_code=check.reason_code.value,
            scores=measured(check.scores),
            policy=policy,
            models=self._gate.models(),
            texts=check_texts(asked, check),
            memory=(memory_id,),
        )


def _to_restore(tx: Transaction, which: Which) -> tuple[Memory, str, Policy]:
    memory = find_memory(tx, which)
    return memory, source_of(tx, memory), find_policy(tx, None)


def _require_passing(memory: Memory, check: CheckOutcome) -> None:
    """Raise ``Conflict`` unless the gate, or a person earlier, lets the memory pass."""
    by_person = memory.verdict == Verdict.REVIEW.value and check.verdict is Verdict.REVIEW
    if check.verdict is not Verdict.STORE and not by_person:
        raise Conflict(f"The gate does not let it pass ({check.reason_code.value}): {check.reason}")


def _rivals(tx: Transaction, memory: Memory) -> list[Memory]:
    """Return what is active in a memory's place.

    That is the end of its line and, of an attribute that holds one value, what else it holds now.
    """
    found = _head(tx, memory)
    if is_functional(memory.triple.attribute, tx.attributes.all()):
        found += active_about(tx, memory.owner.subject_id, [key_of(memory)])
    unique = {m.id: m for m in found if m.id != memory.id}
    return list(unique.values())


def _head(tx: Transaction, memory: Memory) -> list[Memory]:
    """Return the active memory at the end of the line of replacements, if there is one."""
    passed = {memory.id}
    current: Memory | None = memory
    while current is not None and current.replaced_by and current.replaced_by not in passed:
        passed.add(current.replaced_by)
        current = tx.memories.get(memory.owner.subject_id, current.replaced_by)
    active = current is not None and current.status is MemoryStatus.ACTIVE
    return [current] if current is not None and active else []

"""Remember facts: out of messages, or as they are stated, and only past the gate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.domain.check import Message
from service.domain.memory import Owner
from service.ports.clock import Clock
from service.ports.storage import Database, Scope, StoredAnswer
from service.usecases.commit import Done
from service.usecases.drift import Drift, Seen
from service.usecases.erasure.guard import without_erased
from service.usecases.intake import Claimed, TakeIn
from service.usecases.memorize import Memorize, Remembered
from service.usecases.once import Once, earlier_answer
from service.usecases.plan import Outcome, Plan
from service.usecases.policies import find_policy
from service.usecases.proposals import Intake


@dataclass(frozen=True, slots=True)
class RememberCommand:
    """What to remember of whom: either ``messages`` or ``fact``.

    Attributes:
        observed_at: when it was said, for messages without a time of their own.
        policy: a fingerprint, a name, or ``name@version``; the tenant's default without it.
        dry_run: answer what would happen, and write nothing.
        speaker_name: what the user is called.
    """

    user_id: str
    messages: tuple[Message, ...] = ()
    fact: Claimed | None = None
    agent_id: str | None = None
    session_id: str | None = None
    observed_at: datetime | None = None
    policy: str | None = None
    dry_run: bool = False
    speaker_name: str | None = None


class Remember:
    """The use case behind ``POST /memory``."""

    def __init__(
        self, *, memorize: Memorize, take_in: TakeIn, database: Database, clock: Clock
    ) -> None:
        self._memorize = memorize
        self._take_in = take_in
        self._database = database
        self._clock = clock

    def run(
        self,
        scope: Scope,
        command: RememberCommand,
        once: Once[Remembered] | None = None,
    ) -> Remembered | StoredAnswer:
        """Take in messages or a fact, and write what the gate and the adjudication let through.

        Raises:
            NotFound: an unknown policy.
            InvalidInput: malformed evidence.
            Conflict: the user's memories kept changing.
            Overloaded, Unavailable: a model or the database cannot serve; nothing was written.
        """
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored
        policy = self._database.read(scope, lambda tx: find_policy(tx, command.policy))
        owner = Owner("", command.user_id, command.agent_id, command.session_id)
        prepared = self._memorize.judge(
            command.user_id, self._unerased(scope, command, owner), policy
        )
        if command.dry_run:
            _, plan = self._memorize.plan(scope, prepared, owner)
            done = [Done(o, _planned(o, plan)) for o in plan.outcomes]
            return self._memorize.answer(prepared, done, dry_run=True)
        return self._memorize.write(scope, prepared, owner, once, lambda _tx, _plan, found: found)

    def _unerased(self, scope: Scope, command: RememberCommand, owner: Owner) -> Intake:
        """Return the intake without stale copies of what was erased."""
        taken = self._intake(command, owner)
        if len(taken.undated) == len(taken.fresh):
            return taken
        return self._database.read(scope, lambda tx: without_erased(tx, command.user_id, taken))

    def _intake(self, command: RememberCommand, owner: Owner) -> Intake:
        now = self._clock.now()
        if command.fact is not None:
            at = command.observed_at
            return self._take_in.claimed(command.fact, owner, observed_at=at, now=now)
        return self._take_in.messages(
            command.messages,
            owner,
            observed_at=command.observed_at,
            now=now,
            speaker_name=command.speaker_name,
        )


def _planned(outcome: Outcome, plan: Plan) -> Seen | None:
    """Return the memory as it would be."""
    found = [s.after for s in plan.steps if s.after.id == outcome.memory_id]
    return Seen(found[-1], Drift.UNVERIFIABLE) if found else None

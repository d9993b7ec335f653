"""Replace a memory by an actor's decision."""

from __future__ import annotations

from dataclasses import replace

from service.domain import memory_state
from service.ports.clock import Clock
from service.ports.storage import Database, Scope, StoredAnswer
from service.usecases.intake import Claimed, TakeIn
from service.usecases.lineage import Which, find_memory
from service.usecases.memorize import Memorize, Remembered
from service.usecases.once import Once, earlier_answer
from service.usecases.policies import find_policy


class Supersede:
    """The use case behind ``POST /memory/{id}/supersede``: a new text in place of an old one.

    The gate has to let the new text pass; that it replaces the old one is the actor's decision.
    """

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
        which: Which,
        fact: Claimed,
        reason: str,
        once: Once[Remembered] | None = None,
    ) -> Remembered | StoredAnswer:
        """Replace one memory; raises ``NotFound``, or ``Conflict`` unless it is active."""
        stored = earlier_answer(self._database, scope, once)
        if stored is not None:
            return stored
        old, policy = self._database.read(
            scope, lambda tx: (find_memory(tx, which), find_policy(tx, None))
        )
        now = self._clock.now()
        memory_state.superseded(old, by="", reason=reason, at=now, until=None)
        owner = replace(old.owner, subject_id="")
        like_old = replace(fact, type=fact.type or old.type, importance=old.importance)
        taken = self._take_in.claimed(like_old, owner, observed_at=None, now=now)
        proposals = tuple(replace(p, replaces=old.id, reason=reason) for p in taken.proposals)
        intake = replace(taken, proposals=proposals)
        prepared = self._memorize.judge(which.user_id, intake, policy)
        return self._memorize.write(scope, prepared, owner, once, lambda _tx, _plan, found: found)

"""A stale copy of an erased statement does not bring it back; saying it anew does.

Stale is what was said at or before its erasure, as far as the client says when: a message that
nobody dated was said now. What claimed to have been said later than that is stale until then. The
texts are not kept for this, only keyed digests.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from service.domain.erasure_text import normal
from service.domain.errors import Conflict
from service.domain.extraction.types import Skipped, SkipReason
from service.domain.memory import Turn
from service.ports.storage import Transaction
from service.usecases.proposals import Intake


def is_stale(tx: Transaction, user_id: str, texts: Iterable[str], said_at: datetime | None) -> bool:
    """Return whether any of these was erased after it was said."""
    if said_at is None:
        return False
    statements = list(dict.fromkeys(map(normal, texts)))
    everything = tx.erasure.erased.user_erased_at(user_id, statements)
    if everything is not None and said_at <= everything:
        return True
    subject = tx.subjects.find(user_id)
    if subject is None:
        return False
    erased = tx.erasure.erased.statement_erased_at(subject, statements)
    return erased is not None and said_at <= erased


def without_erased(tx: Transaction, user_id: str, intake: Intake) -> Intake:
    """Return what is left of an intake; of a stale turn nothing is, and nothing is repeated."""
    stale = _stale_turns(tx, user_id, intake)
    if not stale:
        return intake
    gone = {turn.id for turn in stale}
    skipped = [s for s in intake.skipped if not any(s.text in turn.text for turn in stale)]
    return replace(
        intake,
        fresh=tuple(t for t in intake.fresh if t.id not in gone),
        proposals=tuple(p for p in intake.proposals if p.turn.id not in gone),
        skipped=(*skipped, *(Skipped("", SkipReason.ERASED) for _ in stale)),
        undated=intake.undated - gone,
    )


def refuse_erased(tx: Transaction, user_id: str, intake: Intake) -> None:
    """Raise ``Conflict`` if something was erased since the intake was looked at."""
    if _stale_turns(tx, user_id, intake):
        raise Conflict("What this says was erased meanwhile; nothing was written.")


def _stale_turns(tx: Transaction, user_id: str, intake: Intake) -> list[Turn]:
    dated = [turn for turn in intake.fresh if turn.id not in intake.undated]
    return [t for t in dated if is_stale(tx, user_id, _texts(t, intake), t.observed_at)]


def _texts(turn: Turn, intake: Intake) -> list[str]:
    stated = [p for p in intake.proposals if p.turn.id == turn.id]
    passages = [turn.text[p.start : p.end] for p in stated]
    return [turn.text, *(p.text for p in stated), *passages]

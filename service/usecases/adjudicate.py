"""Weigh an incoming memory against existing ones by evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.adjudication import AdjudicationOutcome
from service.domain.check import CheckInput, CheckOutcome
from service.domain.policy import Policy


@dataclass(frozen=True, slots=True)
class Party:
    """One side as it is asked about: a fact with its source, and what is known beside them.

    ``check`` is given when the gate has already judged this side (a stored memory keeps its own);
    otherwise the adjudicator asks the gate.
    """

    input: CheckInput
    id: str | None = None
    authority: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    check: CheckOutcome | None = None


class Adjudicator:
    """Weighs memories; holds no state but the gate and its models."""

    def judge(
        self,
        existing: Sequence[Party],
        incoming: Party,
        policy: Policy,
        functional: dict[str, bool],
    ) -> tuple[AdjudicationOutcome, CheckOutcome, list[CheckOutcome]]:
        """Return (outcome, check of the incoming, checks of the existing), in order.

        ``functional`` are the tenant's declarations of attributes, over the built-in table.
        """
        raise NotImplementedError

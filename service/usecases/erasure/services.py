"""The use cases of erasure put together; which files and indexes stand behind them is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.storage import Database
from service.usecases.erasure.confirm import ConfirmErasure
from service.usecases.erasure.finish import Finisher, Steps
from service.usecases.erasure.plan import PlanErasure


@dataclass(frozen=True, slots=True)
class ErasureServices:
    """The use cases that the routes of erasure call, and what finishes erasures behind them.

    ``out_of_reach`` are sentences about copies that this service cannot touch.
    """

    plan: PlanErasure
    confirm: ConfirmErasure
    finisher: Finisher
    out_of_reach: tuple[str, ...]


def erasure_services(
    database: Database,
    clock: Clock,
    identifiers: Identifiers,
    steps: Steps,
    out_of_reach: Sequence[str],
) -> ErasureServices:
    """Return the use cases of erasure."""
    finisher = Finisher(database=database, clock=clock, steps=steps)
    return ErasureServices(
        plan=PlanErasure(database=database, clock=clock),
        confirm=ConfirmErasure(
            database=database, clock=clock, identifiers=identifiers, finisher=finisher
        ),
        finisher=finisher,
        out_of_reach=tuple(out_of_reach),
    )

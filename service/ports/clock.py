"""The time of day, as a capability."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time; the log itself makes sure that its entries never go back."""

    def now(self) -> datetime:
        """Return the current time, aware and in UTC."""
        ...

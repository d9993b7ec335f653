"""An optional second opinion on what a message states."""

from __future__ import annotations

from typing import Protocol


class Proposer(Protocol):
    """Proposes facts; nothing that it says is believed without the gate."""

    def propose(self, message: str) -> list[str]:
        """Return short statements about the user in the third person, at most a few.

        Raises:
            Unavailable: the helper does not answer, or not in the form it was asked for.
        """
        ...

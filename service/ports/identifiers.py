"""New opaque ids, as a capability."""

from __future__ import annotations

from typing import Protocol


class Identifiers(Protocol):
    """Makes ids that are unique, unguessable and free of meaning."""

    def new(self, prefix: str) -> str:
        """Return a new id such as ``chk_01…``: the prefix, an underscore, and 26 characters."""
        ...

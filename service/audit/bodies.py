"""The texts beside the log: each must open its commitment, and may be gone only if erased."""

from __future__ import annotations

from collections.abc import Mapping

from service.audit.commitment import opens
from service.audit.entry import Entry
from service.audit.erasures import Erasures, ids_of
from service.audit.rows import AnyBody, Body, Unreadable


class BodyCheck:
    """Feed it every readable entry with its bodies, then ``finish``."""

    def __init__(self, erasures: Erasures) -> None:
        self.broken: dict[int, str] = {}
        self.missing: list[int] = []
        self.checked = 0
        self.locked = 0
        self._erasures = erasures
        self._incomplete: dict[int, tuple[str, frozenset[str]]] = {}

    def feed(self, seq: int, entry: Entry, bodies: Mapping[str, AnyBody]) -> None:
        """Check the bodies of one entry."""
        draft = entry.draft
        expected = draft.commitments.keys()
        if bodies and (draft.subject is None or bodies.keys() - expected):
            self.broken[seq] = "a body that the entry does not commit to"
        gone = expected - bodies.keys()
        for name, body in bodies.items():
            if isinstance(body, Body):
                self.checked += 1
                if not opens(draft.commitments.get(name, ""), body):
                    self.broken.setdefault(seq, f"{name}: the body is not the one committed to")
            elif body.why is Unreadable.LOCKED:
                self.locked += 1
            elif body.why is Unreadable.DAMAGED:
                self.broken.setdefault(seq, f"{name}: the body was changed, it does not decrypt")
            else:
                gone |= {name}
        if gone and draft.subject is not None:
            self._incomplete[seq] = (draft.subject, ids_of(draft))

    def finish(self) -> None:
        """Decide which missing bodies were erased on the record."""
        self.missing = [
            seq
            for seq, (subject, ids) in self._incomplete.items()
            if not self._erasures.cover(seq, subject, ids)
        ]

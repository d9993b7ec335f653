"""The texts beside the log: each must open its commitment, and may be gone only if erased."""

from __future__ import annotations

from collections.abc import Mapping

from service.audit.commitment import opens
from service.audit.entry import Entry
from service.audit.rows import Body


class BodyCheck:
    """Feed it every readable entry with its bodies, then ``finish``.

    An ``erasure.done`` entry accounts for a missing body of an earlier entry of the same subject if
    it names one of that entry's memory ids or its decision id, or names none (all was erased).
    """

    def __init__(self) -> None:
        self.broken: dict[int, str] = {}
        self.missing: list[int] = []
        self.checked = 0
        self._incomplete: dict[int, tuple[str, frozenset[str]]] = {}
        self._erasures: dict[str, list[tuple[int, frozenset[str]]]] = {}

    def feed(self, seq: int, entry: Entry, bodies: Mapping[str, Body]) -> None:
        """Check the bodies of one entry."""
        draft = entry.draft
        if draft.kind == "erasure.done" and draft.subject is not None:
            erased = (seq, frozenset(draft.memory))
            self._erasures.setdefault(draft.subject, []).append(erased)
        if bodies and (draft.subject is None or bodies.keys() - draft.commitments.keys()):
            self.broken[seq] = "a body that the entry does not commit to"
        for name, body in bodies.items():
            self.checked += 1
            if not opens(draft.commitments.get(name, ""), body):
                self.broken.setdefault(seq, f"{name}: the body is not the one committed to")
        if draft.subject is not None and draft.commitments.keys() - bodies.keys():
            self._incomplete[seq] = (draft.subject, _ids(entry))

    def finish(self) -> None:
        """Decide which missing bodies were erased on the record."""
        self.missing = [
            seq
            for seq, (subject, ids) in self._incomplete.items()
            if not any(
                seq < at and (not erased or erased & ids)
                for at, erased in self._erasures.get(subject, ())
            )
        ]


def _ids(entry: Entry) -> frozenset[str]:
    decision_id = (entry.draft.decision or {}).get("id")
    own = (decision_id,) if isinstance(decision_id, str) else ()
    return frozenset((*entry.draft.memory, *own))

"""What was erased on the record, and so may be gone."""

from __future__ import annotations

from service.audit.entry import Entry, EntryDraft


class Erasures:
    """Collects ``erasure.done`` entries.

    Such an entry accounts for what belongs to an earlier entry of the same subject if it names one
    of that entry's memory ids or its decision id, or names none at all (everything was erased).
    """

    def __init__(self) -> None:
        self._by_subject: dict[str, list[tuple[int, frozenset[str]]]] = {}

    def feed(self, seq: int, entry: Entry) -> None:
        """Note an entry, if it is an erasure."""
        draft = entry.draft
        if draft.kind == "erasure.done" and draft.subject is not None:
            erased = (seq, frozenset(draft.memory))
            self._by_subject.setdefault(draft.subject, []).append(erased)

    def cover(self, seq: int, subject: str | None, ids: frozenset[str]) -> bool:
        """Tell whether what entry ``seq`` says about ``ids`` of a subject was erased later."""
        if subject is None:
            return False
        return any(
            seq < at and (not erased or not erased.isdisjoint(ids))
            for at, erased in self._by_subject.get(subject, ())
        )


def ids_of(draft: EntryDraft) -> frozenset[str]:
    """Return the ids that an erasure can name to cover an entry."""
    decision_id = (draft.decision or {}).get("id")
    own = (decision_id,) if isinstance(decision_id, str) else ()
    return frozenset((*draft.memory, *own))

"""Which policy was the default when, from the log itself."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from service.audit.entry import Entry
from service.domain.errors import InvalidInput, NotFound
from service.domain.policy import Policy, diff
from service.ports.storage import Transaction
from service.usecases.policies import BUILT_IN, find_policy
from service.usecases.report_model import PolicyPeriod

KIND: Final = "policy.changed"


@dataclass(frozen=True, slots=True)
class Change:
    """A new default: from which entry and time on, and which."""

    seq: int
    ts: str
    fingerprint: str


class PolicyHistory:
    """The defaults one after the other; before the first change the built-in policy applies."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        changes = [Change(e.seq, e.ts, str(e.draft.policy)) for e in entries if _is_default(e)]
        self._changes = (Change(-1, "", BUILT_IN.fingerprint), *changes)
        self._seqs = [change.seq for change in self._changes]
        self._decisions: Counter[int] = Counter()

    def count(self, seq: int) -> None:
        """Count a decision for the period that its entry is in."""
        self._decisions[bisect_right(self._seqs, seq) - 1] += 1

    def periods(self, tx: Transaction, since: str | None, until: str | None) -> list[PolicyPeriod]:
        """Return the periods that overlap the time from ``since`` to before ``until``."""
        ends = [change.ts for change in self._changes[1:]] + [None]
        found = []
        for number, (change, end) in enumerate(zip(self._changes, ends, strict=True)):
            before = since is not None and end is not None and end <= since
            after = until is not None and change.ts >= until
            if not before and not after:
                found.append(self._period(tx, number, change, end))
        return found

    def _period(
        self, tx: Transaction, number: int, change: Change, end: str | None
    ) -> PolicyPeriod:
        policy = known_policy(tx, change.fingerprint)
        previous = None
        if number > 0:
            previous = known_policy(tx, self._changes[number - 1].fingerprint)
        return PolicyPeriod(
            fingerprint=change.fingerprint,
            name=policy.name if policy else "unknown",
            version=policy.version if policy else "",
            since=change.ts or None,
            until=end,
            decisions=self._decisions[number],
            body=policy.body() if policy else None,
            changes=_changes(previous, policy),
        )


def known_policy(tx: Transaction, fingerprint: str) -> Policy | None:
    """Return a policy if its rules are known here; the log itself names it only."""
    try:
        policy = find_policy(tx, fingerprint)
    except (NotFound, InvalidInput):
        return None
    return policy if policy.fingerprint == fingerprint else None


def names(tx: Transaction, fingerprints: Iterable[str]) -> Mapping[str, tuple[str, str]]:
    """Return name and version of those policies that are known."""
    found = {f: known_policy(tx, f) for f in fingerprints}
    return {f: (policy.name, policy.version) for f, policy in found.items() if policy is not None}


def _changes(
    previous: Policy | None, policy: Policy | None
) -> tuple[Mapping[str, object], ...] | None:
    return None if previous is None or policy is None else tuple(diff(previous, policy))


def _is_default(entry: Entry) -> bool:
    """Tell a new default from a new version, of which no digest is recorded."""
    return entry.draft.kind == KIND and entry.draft.state_after is not None

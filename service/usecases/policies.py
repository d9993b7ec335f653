"""Store, find, compare and choose policies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from service.domain.errors import NotFound
from service.domain.policy import Policy, diff, policy_from_body
from service.ports.clock import Clock
from service.ports.storage import (
    Database,
    EntryDraft,
    Page,
    PageRequest,
    PolicyRecord,
    Scope,
    StoredAnswer,
    Transaction,
)
from service.usecases.once import Once, write_once

BUILT_IN = Policy()
"""What applies until a tenant chooses a default of its own."""


def find_policy(tx: Transaction, reference: str | None) -> Policy:
    """Return the policy that a request names.

    Args:
        tx: the tenant's transaction.
        reference: a fingerprint, a name (its newest version), ``name@version``, or nothing for
            the tenant's default.

    Raises:
        NotFound: no such policy.
    """
    if reference is None:
        reference = tx.policies.default()
    if reference is None:
        return BUILT_IN
    name, _, version = reference.partition("@")
    record = tx.policies.get(reference) or tx.policies.by_name(name, version or None)
    if record is not None:
        return policy_of(record)
    if reference in (BUILT_IN.fingerprint, BUILT_IN.name, f"{BUILT_IN.name}@{BUILT_IN.version}"):
        return BUILT_IN
    raise NotFound("policy")


def policy_of(record: PolicyRecord) -> Policy:
    """Return the policy that a stored record describes."""
    return _parsed(record.body, record.legacy_fingerprint)


@lru_cache(maxsize=256)
def _parsed(body: str, legacy_fingerprint: str | None) -> Policy:
    """Read a stored body once; a version never changes."""
    policy = policy_from_body(json.loads(body))
    if legacy_fingerprint is None:
        return policy
    return replace(policy, legacy_fingerprint=legacy_fingerprint)


class ManagePolicies:
    """The use cases behind ``/policies``."""

    def __init__(self, *, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def list(self, scope: Scope, page: PageRequest) -> Page[Policy]:
        """Return the tenant's policies, newest first; the built-in one is always among them."""

        def work(tx: Transaction) -> Page[Policy]:
            found = tx.policies.list(page)
            items = tuple(policy_of(r) for r in found.items)
            if tx.policies.get(BUILT_IN.fingerprint) is not None:
                return Page(items, found.next_cursor, found.total)
            last = (BUILT_IN,) if found.next_cursor is None else ()
            return Page(items + last, found.next_cursor, found.total + 1)

        return self._database.read(scope, work)

    def get(self, scope: Scope, reference: str) -> Policy:
        """Return one policy; raises ``NotFound``."""
        return self._database.read(scope, lambda tx: find_policy(tx, reference))

    def default(self, scope: Scope) -> Policy:
        """Return the policy that applies when a request names none."""
        return self._database.read(scope, lambda tx: find_policy(tx, None))

    def diff(self, scope: Scope, a: str, b: str) -> Sequence[dict[str, Any]]:
        """Return the fields in which two policies differ; raises ``NotFound``."""

        def work(tx: Transaction) -> list[dict[str, Any]]:
            return diff(find_policy(tx, a), find_policy(tx, b))

        return self._database.read(scope, work)

    def add(
        self, scope: Scope, body: Mapping[str, Any], once: Once[Policy] | None = None
    ) -> Policy | StoredAnswer:
        """Store a new version; the same body again changes nothing.

        Raises:
            InvalidInput: a field is unknown or out of range.
            Conflict: the name and version exist with other rules.
        """
        policy = policy_from_body(body)

        def work(tx: Transaction) -> Policy:
            if tx.policies.get(policy.fingerprint) is None:
                self._store(tx, policy)
                tx.audit.append(_changed(scope, policy), {})
            return policy

        return write_once(self._database, scope, self._clock, once, work)

    def set_default(self, scope: Scope, fingerprint: str) -> Policy:
        """Make a policy the one that applies by default; raises ``NotFound``."""

        def work(tx: Transaction) -> Policy:
            policy = find_policy(tx, fingerprint)
            if tx.policies.get(policy.fingerprint) is None:
                self._store(tx, policy)
            before = find_policy(tx, None).fingerprint
            if before != policy.fingerprint:
                tx.policies.set_default(policy.fingerprint)
                tx.audit.append(_changed(scope, policy, before=before), {})
            return policy

        return self._database.write(scope, work)

    def _store(self, tx: Transaction, policy: Policy) -> None:
        tx.policies.add(
            PolicyRecord(
                fingerprint=policy.fingerprint,
                name=policy.name,
                version=policy.version,
                body=policy.canonical_body(),
                legacy_fingerprint=policy.legacy_fingerprint,
                created_at=self._clock.now(),
            )
        )


def _changed(scope: Scope, policy: Policy, before: str | None = None) -> EntryDraft:
    """Return the entry for a new version, or with ``before`` for a new default.

    The state digests of a new default are the two fingerprints, so the log alone tells which
    policy governed each period.
    """
    return EntryDraft(
        kind="policy.changed",
        actor=scope.actor,
        state_before=before,
        state_after=policy.fingerprint if before else None,
        policy=policy.fingerprint,
    )

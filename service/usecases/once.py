"""Writes that happen once per Idempotency-Key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from service.domain.errors import Conflict, IdempotencyMismatch
from service.ports.clock import Clock
from service.ports.storage import Database, Scope, StoredAnswer, Transaction

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Once(Generic[A]):
    """An Idempotency-Key, what it was sent with, and how to render the answer that is kept.

    Attributes:
        key: the client's key, made unique per operation by the caller.
        request_hash: hex SHA-256 of the request body.
        render: turns an answer into (HTTP status, body).
    """

    key: str
    request_hash: str
    render: Callable[[A], tuple[int, bytes]]


def answered(tx: Transaction, once: Once[A] | None) -> StoredAnswer | None:
    """Return the answer given to this key before.

    Raises ``IdempotencyMismatch`` when the key came with another body, and ``Conflict`` when the
    answer was erased: doing the work again would bring back what was.
    """
    if once is None:
        return None
    stored = tx.idempotency.get(once.key)
    if stored is None and tx.erasure.erased.answer_erased_at(once.key) is not None:
        raise Conflict("This Idempotency-Key was used before, and its answer was erased.")
    if stored is not None and stored.request_hash != once.request_hash:
        raise IdempotencyMismatch("This Idempotency-Key was used with another request body.")
    return stored


def earlier_answer(database: Database, scope: Scope, once: Once[A] | None) -> StoredAnswer | None:
    """Return the answer given to this key before, so that no model runs twice for it."""
    return None if once is None else database.read(scope, lambda tx: answered(tx, once))


def write_once(
    database: Database,
    scope: Scope,
    clock: Clock,
    once: Once[A] | None,
    work: Callable[[Transaction], A],
) -> A | StoredAnswer:
    """Run ``work`` in one transaction and keep its answer in the same one.

    Two requests with the same key at once do the work once; the second gets the stored answer.
    """

    def unit(tx: Transaction) -> A | StoredAnswer:
        stored = answered(tx, once)
        if stored is not None:
            return stored
        answer = work(tx)
        if once is not None:
            status, body = once.render(answer)
            tx.idempotency.put(once.key, StoredAnswer(once.request_hash, status, body, clock.now()))
        return answer

    return database.write(scope, unit)

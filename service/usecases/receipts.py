"""Receipts: signing and storing them, reading them, and running them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from service.domain.canonical import canonical_json
from service.domain.errors import NotFound
from service.domain.recall.asking import read_query
from service.domain.recall.differences import Difference, differences
from service.domain.recall.outcome import Outcome
from service.domain.recall.receipts import (
    SIGNATURE,
    Asked,
    Circumstances,
    answer_part,
    asked_of,
    moment_of,
    receipt_body,
    signature_of,
    signed_bytes,
    with_signature,
)
from service.domain.recall.scoring import definition_hash
from service.ports.receipts import ReceiptRecord
from service.ports.signing import Signer
from service.ports.storage import Database, Scope, Transaction
from service.usecases.recall_answer import Answerer, Prepared
from service.usecases.recall_search import Embedding


class Verification(StrEnum):
    """What a receipt comes to."""

    VERIFIED = "verified"
    DIFFERENT = "different"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, slots=True)
class Receipt:
    """A signed receipt, and whose it is."""

    body: Mapping[str, Any]
    subject_id: str | None


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of running a receipt again."""

    status: Verification
    differences: tuple[Difference, ...]

    @property
    def verified(self) -> bool | None:
        """Return True or False, or None where what it rests on is gone."""
        known = {Verification.VERIFIED: True, Verification.DIFFERENT: False}
        return known.get(self.status)


class Issuer:
    """Signs receipts and stores them."""

    def __init__(self, *, signer: Signer) -> None:
        self._signer = signer

    def issue(
        self, asked: Asked, under: Circumstances, outcome: Outcome, subject_id: str | None
    ) -> Receipt:
        """Return the signed receipt of a recall."""
        body = receipt_body(asked, under, outcome) | {"key_id": self._signer.key_id}
        signature = self._signer.sign(signed_bytes(body))
        return Receipt(with_signature(body, self._signer.key_id, signature), subject_id)

    def store(self, tx: Transaction, receipt: Receipt) -> None:
        """Store a receipt as it was handed out."""
        body = receipt.body
        tx.receipts.add(
            ReceiptRecord(
                id=body["id"],
                subject_id=receipt.subject_id,
                body=canonical_json(body).decode(),
                memory_ids=tuple(hit["memory_id"] for hit in body["hits"]),
                recorded_at=moment_of(body),
            )
        )

    def signed(self, receipt: Mapping[str, Any]) -> bool:
        """Return whether this server signed a receipt exactly as it is."""
        signature, key = signature_of(receipt), receipt.get("key_id")
        if signature is None or not isinstance(key, str):
            return False
        return self._signer.verify(key, signed_bytes(receipt), signature)


class ReadReceipts:
    """The use cases behind ``GET /recall/receipts/{id}`` and ``POST /recall/verify``."""

    def __init__(self, *, database: Database, answerer: Answerer, issuer: Issuer) -> None:
        self._database = database
        self._answerer = answerer
        self._issuer = issuer

    def get(self, scope: Scope, receipt_id: str) -> Mapping[str, Any]:
        """Return a stored receipt; raises ``NotFound``."""
        record = self._database.read(scope, lambda tx: tx.receipts.get(receipt_id))
        if record is None:
            raise NotFound("receipt")
        body: dict[str, Any] = json.loads(record.body)
        return body

    def verify(self, scope: Scope, receipt: Mapping[str, Any]) -> Verified:
        """Run a receipt again on what was stored when it was made.

        Raises:
            InvalidInput: it is no receipt.
            Unavailable: a model is not loaded.
        """
        asked = asked_of(receipt)
        moment_of(receipt)
        if not self._issuer.signed(receipt):
            return self._edited(scope, receipt)
        if receipt.get("tenant") != scope.tenant:
            return _different(Difference("tenant", receipt.get("tenant"), None, "not yours"))
        gone = self._out_of_date(receipt)
        if gone is not None:
            return gone
        vector = self._answerer.embed(asked.query)
        return self._database.read(scope, lambda tx: self._again(tx, receipt, asked, vector))

    def _edited(self, scope: Scope, receipt: Mapping[str, Any]) -> Verified:
        """Say which fields are not those that were signed, where the original is still here."""
        told = Difference(SIGNATURE, receipt.get(SIGNATURE), None, "does not fit the receipt")
        name = receipt.get("id")
        record = (
            self._database.read(scope, lambda tx: tx.receipts.get(name))
            if isinstance(name, str)
            else None
        )
        if record is None:
            return _different(told)
        return _different(told, *differences(receipt, json.loads(record.body)))

    def _out_of_date(self, receipt: Mapping[str, Any]) -> Verified | None:
        """Return that a receipt cannot be run again, if the scorer or a model is another now."""
        here = {"definition": definition_hash(), "models": self._answerer.models()}
        found = differences({name: receipt.get(name) for name in here}, here)
        return Verified(Verification.UNVERIFIABLE, tuple(found)) if found else None

    def _again(
        self, tx: Transaction, receipt: Mapping[str, Any], asked: Asked, vector: Embedding
    ) -> Verified:
        log = receipt["log"]
        size, leaf = int(log["size"]), tx.receipts.leaf(int(log["size"]) - 1)
        if leaf != log["leaf"] or tx.audit.head().origin != log["origin"]:
            return _different(Difference("log.leaf", log["leaf"], leaf, "the log is another"))
        subject = tx.subjects.find(asked.user_id)
        if subject is None or tx.receipts.erased_since(subject, size):
            return _ERASED
        if _missing(tx, subject, receipt):
            return _ERASED
        prepared = Prepared(asked, read_query(asked.query), vector, moment_of(receipt), size)
        _, outcome = self._answerer.answer(tx, prepared)
        expected = {name: receipt.get(name) for name in ("reason", "best_score", "hits")}
        found = differences(expected, answer_part(outcome))
        return _different(*found) if found else Verified(Verification.VERIFIED, ())


_ERASED = Verified(
    Verification.UNVERIFIABLE, (Difference("hits", None, None, "what it rests on was erased"),)
)


def _missing(tx: Transaction, subject: str, receipt: Mapping[str, Any]) -> bool:
    ids = [h["memory_id"] for h in receipt["hits"] if h["status"] is not None]
    return len(tx.memories.many(subject, ids)) < len(set(ids))


def _different(*found: Difference) -> Verified:
    return Verified(Verification.DIFFERENT, found)

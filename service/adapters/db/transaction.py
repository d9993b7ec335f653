"""One unit of work: the repositories of one tenant on one connection."""

from __future__ import annotations

from typing import Any, Final

from service.adapters.db.attributes import SqlAttributes
from service.adapters.db.audit import SqlAudit
from service.adapters.db.conflicts import SqlConflicts
from service.adapters.db.decisions import SqlDecisions
from service.adapters.db.embeddings import SqlEmbeddings
from service.adapters.db.erasures import SqlErasureStores
from service.adapters.db.idempotency import SqlIdempotency
from service.adapters.db.lessons import SqlLessons
from service.adapters.db.memories import SqlMemories
from service.adapters.db.outbox import SqlOutbox
from service.adapters.db.policies import SqlPolicies
from service.adapters.db.receipts import SqlReceipts
from service.adapters.db.repository import Session
from service.adapters.db.reviews import SqlReviews
from service.adapters.db.subjects import SqlSubjects
from service.adapters.db.turns import SqlTurns
from service.ports.storage import Scope

_STORES: Final = {
    "policies": SqlPolicies,
    "decisions": SqlDecisions,
    "audit": SqlAudit,
    "subjects": SqlSubjects,
    "idempotency": SqlIdempotency,
    "memories": SqlMemories,
    "turns": SqlTurns,
    "conflicts": SqlConflicts,
    "reviews": SqlReviews,
    "attributes": SqlAttributes,
    "lessons": SqlLessons,
    "outbox": SqlOutbox,
    "embeddings": SqlEmbeddings,
    "receipts": SqlReceipts,
    "erasure": SqlErasureStores,
}


class SqlTransaction:
    """Implements ``Transaction``; each repository is made when it is first asked for."""

    policies: SqlPolicies
    decisions: SqlDecisions
    audit: SqlAudit
    subjects: SqlSubjects
    idempotency: SqlIdempotency
    memories: SqlMemories
    turns: SqlTurns
    conflicts: SqlConflicts
    reviews: SqlReviews
    attributes: SqlAttributes
    lessons: SqlLessons
    outbox: SqlOutbox
    embeddings: SqlEmbeddings
    receipts: SqlReceipts
    erasure: SqlErasureStores

    def __init__(self, session: Session) -> None:
        self.scope: Scope = session.scope
        self._session = session

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the repository of that name
        made = _STORES.get(name)
        if made is None:
            raise AttributeError(name)
        found = self.__dict__[name] = made(self._session)
        return found

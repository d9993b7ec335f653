"""One unit of work: the repositories of one tenant on one connection."""

from __future__ import annotations

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


class SqlTransaction:
    """Implements ``Transaction``."""

    def __init__(self, session: Session) -> None:
        self.scope: Scope = session.scope
        self.policies = SqlPolicies(session)
        self.decisions = SqlDecisions(session)
        self.audit = SqlAudit(session)
        self.subjects = SqlSubjects(session)
        self.idempotency = SqlIdempotency(session)
        self.memories = SqlMemories(session)
        self.turns = SqlTurns(session)
        self.conflicts = SqlConflicts(session)
        self.reviews = SqlReviews(session)
        self.attributes = SqlAttributes(session)
        self.lessons = SqlLessons(session)
        self.outbox = SqlOutbox(session)
        self.embeddings = SqlEmbeddings(session)
        self.receipts = SqlReceipts(session)
        self.erasure = SqlErasureStores(session)

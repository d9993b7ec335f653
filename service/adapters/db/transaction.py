"""One unit of work: the repositories of one tenant on one connection."""

from __future__ import annotations

from service.adapters.db.audit import SqlAudit
from service.adapters.db.decisions import SqlDecisions
from service.adapters.db.idempotency import SqlIdempotency
from service.adapters.db.policies import SqlPolicies
from service.adapters.db.repository import Session
from service.adapters.db.subjects import SqlSubjects
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

"""What may not come back, in SQL: digests under keys, and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.sqlite import insert as upsert

from service.adapters.db.columns import moment, required_stamp
from service.adapters.db.erasure_tables import erased
from service.adapters.db.repository import Repository
from service.adapters.db.tables import subject
from service.ports.subject_keys import SubjectRef

_STATEMENT: Final = "statement"
_USER: Final = "user"
_ANSWER: Final = "answer"
_CHUNK: Final = 500  # digests in one statement


class SqlErased(Repository):
    """Implements ``ErasedStore``."""

    def add_statements(self, subject_id: str, until: Mapping[str, datetime]) -> None:
        """Remember erased statements, and until when saying them is stale."""
        digests = self._statements(subject_id, until)
        self._add_all(_STATEMENT, zip(digests, until.values(), strict=False), subject_id)

    def add_user(self, subject_id: str, at: datetime, later: Mapping[str, datetime]) -> None:
        """Remember that everything of a user was erased, and forget about their statements."""
        theirs = delete(erased).where(self._mine(erased), erased.c.subject_id == subject_id)
        self._execute(theirs)
        named = select(subject.c.user_id).where(self._mine(subject), subject.c.id == subject_id)
        for user in self._execute(named).scalars().all():
            until = {(user,): at, **{(user, text): moment for text, moment in later.items()}}
            digests = self._blinded(_USER, until)
            self._add_all(_USER, zip(digests, until.values(), strict=False), None)

    def add_answers(self, keys: Iterable[str], at: datetime) -> None:
        """Remember that the answers to clients' keys were erased."""
        digests = self._blinded(_ANSWER, ((key,) for key in keys))
        self._add_all(_ANSWER, ((digest, at) for digest in digests), None)

    def statement_erased_at(self, subject_id: str, texts: Sequence[str]) -> datetime | None:
        """Return until when the latest of these statements of a user is stale."""
        theirs = select(erased.c.tenant).where(self._mine(erased), erased.c.kind == _STATEMENT)
        theirs = theirs.where(erased.c.subject_id == subject_id).limit(1)
        if self._execute(theirs).first() is None:
            return None
        return self._latest(_STATEMENT, self._statements(subject_id, texts))

    def user_erased_at(self, user_id: str, texts: Sequence[str]) -> datetime | None:
        """Return until when these statements of a user are stale, if everything was erased."""
        everything = self._latest(_USER, self._blinded(_USER, [(user_id,)]))
        if everything is None:
            return None
        single = self._latest(_USER, self._blinded(_USER, ((user_id, text) for text in texts)))
        return max(everything, single or everything)

    def answer_erased_at(self, key: str) -> datetime | None:
        """Return when the answer to a client's key was erased."""
        return self._latest(_ANSWER, self._blinded(_ANSWER, [(key,)]))

    def _statements(self, subject_id: str, texts: Iterable[str]) -> list[str]:
        keys = self._session.keys
        who = SubjectRef(self._session.scope.tenant, subject_id)
        return [] if keys is None else [keys.blind_for(who, _STATEMENT, text) for text in texts]

    def _blinded(self, kind: str, names: Iterable[tuple[str, ...]]) -> list[str]:
        keys, tenant = self._session.keys, self._session.scope.tenant
        return [] if keys is None else [keys.blind(kind, tenant, *name) for name in names]

    def _add_all(
        self, kind: str, until: Iterable[tuple[str, datetime]], subject_id: str | None
    ) -> None:
        common = {
            "tenant": self._session.scope.tenant,
            "kind": kind,
            "subject_id": subject_id,
        }
        rows: list[dict[str, object]] = [
            {**common, "digest": digest, "erased_at": required_stamp(at)} for digest, at in until
        ]
        if not rows:
            return
        statement = upsert(erased)
        later = func.max(erased.c.erased_at, statement.excluded.erased_at)
        statement = statement.on_conflict_do_update(
            index_elements=["tenant", "kind", "digest"], set_={"erased_at": later}
        )
        self._execute(statement, rows)

    def _latest(self, kind: str, digests: Sequence[str]) -> datetime | None:
        latest: str | None = None
        for start in range(0, len(digests), _CHUNK):
            part = erased.c.digest.in_(digests[start : start + _CHUNK])
            query = select(func.max(erased.c.erased_at)).where(self._mine(erased), part)
            found = self._execute(query.where(erased.c.kind == kind)).scalar_one()
            latest = max(filter(None, (latest, found)), default=None)
        return moment(latest)

"""One answer to one question, now or as it was when the log had a certain size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.memory import Lesson, Owner
from service.domain.recall.asking import Query, read_query
from service.domain.recall.eligible import Filters
from service.domain.recall.outcome import LESSON, Outcome, RecallReason
from service.domain.recall.outline import Outline
from service.domain.recall.receipts import Asked
from service.ports.paging import PageRequest
from service.ports.storage import Transaction
from service.usecases.recall_corpus import Corpora
from service.usecases.recall_search import Embedding, Question, Searcher
from service.usecases.recall_view import NOTHING, View

_LESSONS = 200


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question before the tables are asked; ``size`` is the log's, None for as it is now."""

    asked: Asked
    query: Query
    vector: Embedding
    now: datetime
    size: int | None = None


class Answerer:
    """Answers questions in one transaction; the same for a recall and for its verification."""

    def __init__(self, *, searcher: Searcher, corpora: Corpora) -> None:
        self._searcher = searcher
        self._corpora = corpora

    def models(self) -> dict[str, str]:
        """Return the digest of each model that has a say."""
        return self._searcher.models()

    def embed(self, query: str | Query) -> Embedding:
        """Begin to embed a query, while a transaction begins and memories are read."""
        return self._searcher.embed(read_query(query) if isinstance(query, str) else query)

    def answer(self, tx: Transaction, prepared: Prepared) -> tuple[str | None, Outcome]:
        """Return whose memories were asked, and the answer."""
        asked = prepared.asked
        filters = asked.filters
        subject = tx.subjects.find(asked.user_id)
        lessons = _lessons(tx, subject, prepared) if LESSON in filters.types else ()
        unknown = subject is None and not lessons
        if unknown or (subject is not None and not self._known(tx, subject, prepared)):
            prepared.vector()  # a model that cannot work is reported whoever is asked about
            return subject, Outcome(RecallReason.SCOPE_UNKNOWN)
        wanted = subject is not None and filters.types != frozenset({LESSON})
        view = self._view(tx, subject, filters, prepared) if subject and wanted else NOTHING
        question = Question(asked, prepared.query, prepared.vector(), view, lessons)
        outcome = self._searcher.search(tx, subject, question)
        if outcome.reason is RecallReason.NOTHING_STORED and subject is not None:
            outcome = self._hidden(tx, subject, prepared, outcome)
        return subject, outcome

    def _view(self, tx: Transaction, subject: str, filters: Filters, prepared: Prepared) -> View:
        now, size = prepared.now, prepared.size
        if size is None:
            return self._corpora.view(tx, subject, filters, now)
        return self._corpora.view_before(tx, subject, filters, now, size)

    def _hidden(
        self, tx: Transaction, subject: str, prepared: Prepared, outcome: Outcome
    ) -> Outcome:
        """Say "nothing stored" only where nothing is, not where filters hide it."""
        named = prepared.asked.filters
        whole = Filters(agent_id=named.agent_id, session_id=named.session_id)
        if not self._view(tx, subject, whole, prepared).memories:
            return outcome
        return replace(outcome, reason=RecallReason.NOTHING_ABOVE_THRESHOLD)

    def _known(self, tx: Transaction, subject: str, prepared: Prepared) -> bool:
        """Return whether the agent and the session that are named exist, or did then."""
        agent, session = prepared.asked.filters.agent_id, prepared.asked.filters.session_id
        if agent is None and session is None:
            return True
        if prepared.size is None:
            agents, sessions = tx.memories.scopes(subject)
            return (agent is None or agent in agents) and (session is None or session in sessions)
        past = self._corpora.view_before(
            tx, subject, Filters(include_superseded=True), prepared.now, prepared.size
        )
        turns = (t.owner for t in tx.turns.of_subject(subject) if t.recorded_at <= prepared.now)
        return _named((*past.memories, *turns), agent, session)


def _named(owned: Sequence[Outline | Owner], agent: str | None, session: str | None) -> bool:
    has_agent = agent is None or any(o.agent_id == agent for o in owned)
    return has_agent and (session is None or any(o.session_id == session for o in owned))


def _lessons(tx: Transaction, subject: str | None, prepared: Prepared) -> Sequence[Lesson]:
    """Return the lessons for everybody and the user's own, as far as they were recorded then."""
    as_of = prepared.asked.filters.as_of
    until = min(prepared.now, as_of) if as_of else prepared.now
    found = tx.lessons.list(PageRequest(_LESSONS), subject_id=subject).items
    return tuple(x for x in found if x.recorded_at <= until)

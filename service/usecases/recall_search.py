"""From a query to ranked answers: candidates by vector and by word, then the entailment model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from service.domain.digests import lesson_digest
from service.domain.entailment import EntailmentScores
from service.domain.memory import Lesson, Memory, MemoryStatus
from service.domain.recall.asking import Query, is_readable
from service.domain.recall.duplicates import collapsed, comparable
from service.domain.recall.lexical import Lexical, Scores
from service.domain.recall.outcome import Hit, Outcome, RecallReason
from service.domain.recall.outline import Outline
from service.domain.recall.receipts import Asked
from service.domain.recall.scoring import (
    CANDIDATES,
    Candidate,
    Scored,
    leading,
    ranked,
    to_check,
    with_entailment,
)
from service.domain.recall.words import words_of
from service.ports.index import IndexKey, NearestMemories, Vector
from service.ports.models import Embedder, EntailmentModel
from service.ports.storage import Transaction
from service.usecases.recall_view import View

_FRESH = 32  # the newest memories, which may not have a stored vector yet
_LESSON_IMPORTANCE = 0.5
_WORTH_SPLITTING = 4  # pairs
_HELPERS = 16  # threads that wait for a model, each


Embedding: TypeAlias = Callable[[], Vector]
"""Waits for a vector that is being made; may be called again."""


@runtime_checkable
class KnowsCosines(Protocol):
    """An index that has vectors in memory; what it does not have is read from SQL."""

    def cosines(
        self, tx: Transaction, key: IndexKey, query: Vector, memory_ids: Iterable[str]
    ) -> Mapping[str, float]:
        """Return the exact cosines of those of the memories whose vectors are there."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its vector, and what it is asked over."""

    asked: Asked
    query: Query
    vector: Vector
    view: View
    lessons: Sequence[Lesson]


class Searcher:
    """Finds what answers a question; reads only."""

    def __init__(
        self, *, nearest: NearestMemories, embedder: Embedder, nli: EntailmentModel
    ) -> None:
        self._nearest = nearest
        self._embedder = embedder
        self._nli = nli
        self._first = ThreadPoolExecutor(_HELPERS, thread_name_prefix="recall-embedding")
        self._second = ThreadPoolExecutor(_HELPERS, thread_name_prefix="recall-entailment")

    def models(self) -> dict[str, str]:
        """Return the digest of each model that has a say."""
        return {m.identity.role: m.identity.digest for m in (self._embedder, self._nli)}

    def embed(self, query: Query) -> Embedding:
        """Begin to embed a query; return what waits for its vector."""
        made = self._first.submit(self._embedder.embed, [query.spoken])
        return lambda: made.result()[0]

    def search(self, tx: Transaction, subject_id: str | None, question: Question) -> Outcome:
        """Return the answers to a question, or why there are none."""
        found = self._memories(tx, subject_id, question) if subject_id else []
        found += self._lessons(question)
        weights, query = question.asked.weights, question.query
        scored = self._checked(question, leading(query, found, weights))
        best = scored[0].score if scored else None
        passing = [s for s in scored if s.score >= weights.threshold]
        if not passing:
            return Outcome(_why(question, found), best_score=best)
        hits = self._hits(tx, subject_id, question, _in_order(question, passing))
        return Outcome(RecallReason.FOUND, tuple(hits[: question.asked.top_k]), best)

    def _memories(self, tx: Transaction, subject_id: str, question: Question) -> list[Candidate]:
        view = question.view
        lexical = view.lexical.scores(question.query.words)
        by_words = _best_by_words(lexical)
        cosines = self._near(tx, subject_id, question)
        places = {view.places[i] for i in cosines}
        fresh = range(max(0, len(view.memories) - _FRESH), len(view.memories))
        others = [p for p in dict.fromkeys((*by_words, *fresh)) if p not in places]
        cosines |= self._cosines(tx, subject_id, question, [view.memories[p] for p in others])
        return _candidates(view, cosines, lexical)

    def _near(self, tx: Transaction, subject_id: str, question: Question) -> dict[str, float]:
        """Return the cosines of the nearest that may be seen; the search widens until it has some.

        An index knows nothing of status, scope and time, so what it finds may all be hidden.
        """
        key, places = IndexKey(tx.scope.tenant, subject_id), question.view.places
        if not places:
            return {}
        limit = CANDIDATES
        while True:
            hits = self._nearest.search(tx, key, question.vector, limit)
            seen = {h.memory_id: h.cosine for h in hits if h.memory_id in places}
            if len(hits) < limit or len(seen) >= min(len(places), CANDIDATES // 4):
                return seen
            limit *= 4

    def _cosines(
        self, tx: Transaction, subject_id: str, question: Question, memories: Sequence[Outline]
    ) -> dict[str, float]:
        """Return the cosines of memories that no index gave, from SQL or else from the model."""
        found: dict[str, float] = {}
        if isinstance(self._nearest, KnowsCosines):
            key, ids = IndexKey(tx.scope.tenant, subject_id), [m.id for m in memories]
            found |= self._nearest.cosines(tx, key, question.vector, ids)
        unseen = [m for m in memories if m.id not in found]
        if not unseen:
            return found
        digest = self._embedder.identity.digest
        stored = tx.embeddings.many(subject_id, digest, [m.id for m in unseen])
        known = dict(zip(stored.ids, stored.matrix, strict=True))
        lacking = [m for m in unseen if m.id not in known]
        if lacking:
            made = self._embedder.embed([m.text for m in lacking])
            known |= {m.id: v for m, v in zip(lacking, made, strict=True)}
        return found | {i: _cosine(v, question.vector) for i, v in known.items()}

    def _lessons(self, question: Question) -> list[Candidate]:
        lessons = question.lessons
        if not lessons:
            return []
        vectors = self._embedder.embed([x.text for x in lessons])
        lexical = Lexical(words_of([x.text for x in lessons])).scores(question.query.words)
        return [
            Candidate(
                x.id, x.text, _LESSON_IMPORTANCE, _cosine(v, question.vector), float(lexical[p])
            )
            for p, (x, v) in enumerate(zip(lessons, vectors, strict=True))
        ]

    def _checked(self, question: Question, found: list[Scored]) -> list[Scored]:
        """Return the ranking after the entailment model has seen the best of it."""
        query, weights = question.query, question.asked.weights
        size = len(question.view.memories)
        asking = to_check(query, found, question.asked.top_k, size) if query.readable else []
        if not asking:
            return found
        pairs = [(s.candidate.text, query.statement) for s in asking]
        answers = zip(asking, self._entailed(pairs), strict=True)
        again = [with_entailment(s.candidate, said.entailment) for s, said in answers]
        seen = {c.id for c in again}
        rest = [s for s in found if s.candidate.id not in seen]
        return sorted([*ranked(query, again, weights), *rest], key=lambda s: -s.score)

    def _entailed(self, pairs: Sequence[tuple[str, str]]) -> list[EntailmentScores]:
        """Return what the entailment model says, asked in two halves: one for each core."""
        half = len(pairs) // 2 if len(pairs) >= _WORTH_SPLITTING else 0
        if not half:
            return list(self._nli.classify(pairs))
        second = self._second.submit(self._nli.classify, pairs[half:])
        first = self._nli.classify(pairs[:half])
        return [*first, *second.result()]

    def _hits(
        self, tx: Transaction, subject_id: str | None, question: Question, found: list[Scored]
    ) -> list[Hit]:
        lessons = {x.id: x for x in question.lessons}
        memories = [s for s in found if s.candidate.id not in lessons]
        hits = self._distinct(tx, subject_id, question, memories) if subject_id else []
        told = ((s, lessons[s.candidate.id]) for s in found if s.candidate.id in lessons)
        hits += [Hit(s, None, lesson, lesson_digest(lesson)) for s, lesson in told]
        places = {s.candidate.id: place for place, s in enumerate(found)}
        return sorted(hits, key=lambda hit: places[hit.scored.candidate.id])

    def _distinct(
        self, tx: Transaction, subject_id: str, question: Question, found: Sequence[Scored]
    ) -> list[Hit]:
        """Return the best that say something new, with the whole memories.

        These are read for twice as many as are shown; for more only where those repeat each other.
        """
        count = 2 * question.asked.top_k
        while True:
            kept = self._collapsed(tx, subject_id, question, found[:count])
            if len(kept) == question.asked.top_k or count >= len(found):
                return kept
            count *= 2

    def _collapsed(
        self, tx: Transaction, subject_id: str, question: Question, found: Sequence[Scored]
    ) -> list[Hit]:
        top_k = question.asked.top_k
        memories = question.view.whole(tx, subject_id, [s.candidate.id for s in found])
        whole = [(s, memories[s.candidate.id]) for s in found if s.candidate.id in memories]
        hits = [Hit(s, m, None, m.content_hash) for s, m in whole]
        if len(hits) < 2:  # noqa: PLR2004 - one has no duplicate
            return hits[:top_k]
        vectors = {}
        ids = comparable([_memory_of(h) for h in hits[: 2 * top_k]])
        if ids:
            stored = tx.embeddings.many(subject_id, self._embedder.identity.digest, ids)
            vectors = dict(zip(stored.ids, stored.matrix, strict=True))
        return collapsed(hits, _memory_of, vectors, top_k)


def _best_by_words(lexical: Scores) -> list[int]:
    """Return the places of the best by word, ties in their order."""
    some = np.flatnonzero(lexical > 0)
    best: list[int] = some[np.argsort(-lexical[some], kind="stable")[:CANDIDATES]].tolist()
    return best


def _candidates(view: View, cosines: Mapping[str, float], lexical: Scores) -> list[Candidate]:
    ids, texts, weights = (view.memories.column(name) for name in ("id", "text", "importance"))
    places = sorted(map(view.places.__getitem__, cosines))
    return [
        Candidate(ids[p], texts[p], weights[p], cosines[ids[p]], words)
        for p, words in zip(places, lexical[places].tolist(), strict=True)
    ]


def _in_order(question: Question, passing: Sequence[Scored]) -> list[Scored]:
    """Return them with ties settled: what is active first, then what was said last."""
    memories, places = question.view.memories, question.view.places
    statuses, times = memories.column("status"), memories.column("observed_at")

    def rank(scored: Scored) -> tuple[float, bool, float, str]:
        name = scored.candidate.id
        place = places.get(name)
        if place is None:  # a lesson
            return -scored.score, False, 0.0, name
        retired = statuses[place] is not MemoryStatus.ACTIVE
        return -scored.score, retired, -times[place].timestamp(), name

    return sorted(passing, key=rank)


def _why(question: Question, found: Sequence[Candidate]) -> RecallReason:
    if not found:
        return RecallReason.NOTHING_STORED
    by_words = any(round(c.lexical, 6) > 0 for c in found)
    same_script = any(is_readable(c.text) is question.query.readable for c in found)
    if by_words or same_script:
        return RecallReason.NOTHING_ABOVE_THRESHOLD
    return RecallReason.UNSUPPORTED_LANGUAGE


def _memory_of(hit: Hit) -> Memory:
    if hit.memory is None:
        raise TypeError("a lesson has no duplicates")
    return hit.memory


def _cosine(a: Vector, b: Vector) -> float:
    return float((a.astype(np.float64) * b.astype(np.float64)).sum())

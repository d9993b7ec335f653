"""The score of a memory for a query, with everything that went into it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import rfc8785

from service.domain.recall import calibration
from service.domain.recall.answers import lacks
from service.domain.recall.asking import Query, is_readable

CHECKED_LEAST: Final = 6
CHECKED_MOST: Final = 16
CANDIDATES: Final = 128
LARGE: Final = 2_000
"""In a store of so many memories, one that is near enough ends the search for more."""
NEAR: Final = 0.8
DUPLICATE_COSINE: Final = 0.97
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Weights:
    """The numbers of the formula and of the cut."""

    alpha: float
    beta: float
    threshold: float


class Candidate(NamedTuple):
    """A memory (or lesson) that may answer.

    ``cosine`` is that of its vector with the query's, ``lexical`` the scaled BM25 score,
    ``entailment`` what the entailment model says, if it was asked.
    """

    id: str
    text: str
    importance: float
    cosine: float
    lexical: float
    entailment: float | None = None


@dataclass(frozen=True, slots=True)
class Components:
    """What a score is made of; each 0–1 but ``importance``, which is β·(importance − 0.5).

    ``cosine`` and ``entailment`` are what ``semantic`` was calibrated from; they are None where the
    model cannot read the script, or was not asked. ``alpha`` is the one that was used.
    """

    semantic: float
    lexical: float
    importance: float
    alpha: float
    cosine: float | None
    entailment: float | None
    lacks: bool


class Measured(NamedTuple):
    """What a candidate's score was made of, not rounded; ``importance`` as in ``Components``."""

    score: float
    semantic: float
    importance: float
    alpha: float
    readable: bool
    missing: bool


class Scored(NamedTuple):
    """A candidate with its score."""

    candidate: Candidate
    score: float
    measured: Measured

    @property
    def components(self) -> Components:
        """Return what the score is made of, made when asked: only what is shown needs it."""
        return _components(self.candidate, self.measured)


def score(query: Query, candidate: Candidate, weights: Weights) -> Scored:
    """Return max(S_sem, α·S_sem + (1 − α)·S_bm25) + β·(importance − 0.5), clipped to 0–1.

    Source: MemEngine's README, "Prioritized Semantic Retrieval". α is 0 for a query that names a
    topic instead of asking ("garage remote"), and where the embedding model cannot read the query
    or the memory: then words decide alone.
    """
    measured = _measured(query, candidate, weights)
    return Scored(candidate, measured.score, measured)


def ranked(query: Query, candidates: Sequence[Candidate], weights: Weights) -> list[Scored]:
    """Return the candidates with their scores, best first; ties keep their order."""
    found = [score(query, c, weights) for c in candidates]
    return sorted(found, key=lambda s: -s.score)


def leading(query: Query, candidates: Sequence[Candidate], weights: Weights) -> list[Scored]:
    """Return the ranking as far as it can matter, the same as the start of ``ranked``.

    That is everything from the threshold on, and in any case as many that the entailment model can
    read as it may be asked about, and one more.
    """
    measured = [_measured(query, c, weights) for c in candidates]
    found: list[Scored] = []
    readable = 0
    for place in sorted(range(len(measured)), key=lambda p: -measured[p].score):
        one = measured[place]
        if one.score < weights.threshold and readable > CHECKED_MOST:
            break
        readable += one.readable
        found.append(Scored(candidates[place], one.score, one))
    return found


def to_check(query: Query, found: Sequence[Scored], top_k: int, size: int = 0) -> list[Scored]:
    """Return those of the ranked candidates that the entailment model should be asked about.

    Not those in a script it cannot read, nor one so near that nothing could change the answer; and
    none in a store of a large ``size`` whose best candidate is that near, to keep it fast.
    """
    if size >= LARGE and found and found[0].candidate.cosine >= NEAR:
        return []
    limit = min(max(top_k, CHECKED_LEAST), CHECKED_MOST)
    readable = [s for s in found if s.measured.readable]
    return [s for s in readable[:limit] if not _certain(query, s)]


def with_entailment(candidate: Candidate, entailment: float) -> Candidate:
    """Return a candidate with what the entailment model says."""
    return candidate._replace(entailment=round(entailment, _DECIMALS))


@lru_cache(maxsize=1)
def definition_hash() -> str:
    """Return the SHA-256 over formula and constants: what makes two scores comparable."""
    body: dict[str, Any] = {
        "formula": "max(sem, alpha*sem + (1-alpha)*bm25) + beta*(importance-0.5)",
        "bm25": {"k1": 1.5, "b": 0.75, "idf": "lucene", "scale": "self", "version": "1"},
        "tokens": "nfkc-fold-cjk2-porter1-zh1",
        "hypothesis": "statement/1",
        "calibration": calibration.definition(),
        "checked": [CHECKED_LEAST, CHECKED_MOST],
        "candidates": CANDIDATES,
        "large": [LARGE, NEAR],
        "duplicates": DUPLICATE_COSINE,
    }
    return hashlib.sha256(rfc8785.dumps(body)).hexdigest()


def _measured(query: Query, candidate: Candidate, weights: Weights) -> Measured:
    readable = query.readable and is_readable(candidate.text)
    missing = lacks(query.wanted, query.text, candidate.text)
    semantic = _semantic(candidate, missing) if readable else 0.0
    alpha = 0.0 if query.keywords or not readable else weights.alpha
    mixed = max(semantic, alpha * semantic + (1 - alpha) * candidate.lexical)
    importance = weights.beta * (candidate.importance - 0.5)
    score = round(min(1.0, max(0.0, mixed + importance)), _DECIMALS)
    return Measured(score, semantic, importance, alpha, readable, missing)


def _components(candidate: Candidate, measured: Measured) -> Components:
    entailment = candidate.entailment
    return Components(
        semantic=round(measured.semantic, _DECIMALS),
        lexical=round(candidate.lexical, _DECIMALS),
        importance=round(measured.importance, _DECIMALS),
        alpha=measured.alpha,
        cosine=round(candidate.cosine, _DECIMALS) if measured.readable else None,
        entailment=None if entailment is None else round(entailment, _DECIMALS),
        lacks=measured.missing,
    )


def _semantic(candidate: Candidate, missing: bool) -> float:
    if candidate.entailment is None:
        return calibration.unchecked(candidate.cosine, lacks=missing)
    return calibration.checked(candidate.cosine, candidate.entailment, lacks=missing)


def _certain(query: Query, found: Scored) -> bool:
    candidate, enough = found.candidate, calibration.CERTAIN
    near = candidate.cosine >= enough and not found.measured.missing
    return near or (query.keywords and round(candidate.lexical, _DECIMALS) >= enough)

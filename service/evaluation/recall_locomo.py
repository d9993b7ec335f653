"""LoCoMo's questions put to its turns: plain BM25 and plain dense beside ours in the same run."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from service.domain.policy import Policy
from service.domain.recall.asking import Query, read_query
from service.domain.recall.lexical import Lexical
from service.domain.recall.scoring import (
    Candidate,
    Scored,
    Weights,
    ranked,
    to_check,
    with_entailment,
)
from service.domain.recall.words import words_of
from service.evaluation.conversations import FILE
from service.evaluation.data import read_json
from service.evaluation.items import draw
from service.evaluation.sections import Bench, Row, Section, Table, models_of
from service.ports.models import Embedder, EntailmentModel

_SAMPLE: Final = 300
_BATCH: Final = 256
_ADVERSARIAL: Final = 5
_TOP: Final = 5
_HEADER: Row = ("category", "n", "any@5", "frac@5", "any@10", "MRR")
_NAMES: Final = {1: "1 several turns", 2: "2 time", 3: "3 inference", 4: "4 one turn"}
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, its category, and the places of the turns that answer it."""

    query: Query
    raw: str
    category: int
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: its turns as memories, with vectors and words, and its questions."""

    texts: tuple[str, ...]
    vectors: Array
    plain: BM25Okapi
    lexical: Lexical
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Where the answers to one question came, and the best score that was seen."""

    asked: Asked
    order: Sequence[int]
    best: float


Rank = Callable[[Talk, Asked], Run]


def recall_locomo(bench: Bench) -> Section:
    """Compare the rankings on all questions, and the whole recall on a sample."""
    embedder, nli = models_of(bench)
    talks = [_talk(raw, embedder) for raw in read_json(bench.data, FILE)]
    vectors = _vectors(embedder, [a.raw for t in talks for a in t.asked])
    spoken = _vectors(embedder, [a.query.spoken for t in talks for a in t.asked])
    ranks: dict[str, Rank] = {
        "plain BM25": _by_words,
        "plain dense": lambda talk, asked: _by_vector(talk, asked, vectors[asked.raw]),
        "ours, first stage": lambda talk, asked: _ours(talk, asked, spoken[asked.query.spoken]),
    }
    every = [(t, a) for t in talks for a in t.asked]
    tables = [_table(name, [rank(t, a) for t, a in every]) for name, rank in ranks.items()]
    some = draw(every, None if bench.full else _SAMPLE, "recall-locomo")
    again = [_ours(t, a, spoken[a.query.spoken], nli) for t, a in some]
    for name, rank in ranks.items():
        tables.append(_table(f"{name}, on the sample", [rank(t, a) for t, a in some]))
    tables += [_table("ours, both stages, on the sample", again), _abstention(again)]
    return Section("LoCoMo recall", {}, tables, [_NOTE])


_NOTE = (
    "Each turn is one memory, `NAME: text`; a question counts once any turn of its evidence is "
    "among the first 5 (any@5). Plain BM25 is rank_bm25 over `[a-z0-9]+`, plain dense MiniLM's "
    "cosine. Category 5 asks about the wrong speaker: every answer is noise there. The first five "
    "conversations were looked at while the curves were chosen."
)


def _talk(raw: Mapping[str, Any], embedder: Embedder) -> Talk:
    turns = [t for s in raw["conversation"].values() if isinstance(s, list) for t in s]
    texts = tuple(f"{t['speaker']}: {t['text']}" for t in turns)
    places = {t["dia_id"]: place for place, t in enumerate(turns)}
    return Talk(
        texts=texts,
        vectors=np.concatenate([embedder.embed(part) for part in _parts(texts)]),
        plain=BM25Okapi([_plain(text) for text in texts]),
        lexical=Lexical(words_of(texts)),
        asked=tuple(_asked(q, places) for q in raw["qa"]),
    )


def _asked(raw: Mapping[str, Any], places: Mapping[str, int]) -> Asked:
    named = {name for text in raw["evidence"] for name in re.findall(r"D\d+:\d+", text)}
    gold = frozenset(places[name] for name in named if name in places)
    return Asked(read_query(raw["question"]), raw["question"], raw["category"], gold)


def _vectors(embedder: Embedder, texts: Sequence[str]) -> dict[str, Array]:
    unique = list(dict.fromkeys(texts))
    made = [embedder.embed(part) for part in _parts(unique)]
    return dict(zip(unique, np.concatenate(made), strict=True))


def _parts(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]


def _plain(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _by_words(talk: Talk, asked: Asked) -> Run:
    return _run(asked, talk.plain.get_scores(_plain(asked.raw)))


def _by_vector(talk: Talk, asked: Asked, vector: Array) -> Run:
    return _run(asked, talk.vectors @ vector)


def _run(asked: Asked, scores: Array) -> Run:
    return Run(asked, np.argsort(-scores, kind="stable").tolist(), float(scores.max()))


def _ours(talk: Talk, asked: Asked, vector: Array, nli: EntailmentModel | None = None) -> Run:
    policy = Policy()
    weights = Weights(policy.alpha, policy.beta, policy.recall_threshold)
    lexical = talk.lexical.scores(asked.query.words).tolist()
    cosines = (talk.vectors @ vector).tolist()
    found = ranked(
        asked.query,
        [
            Candidate(str(place), text, 0.5, cosines[place], lexical[place])
            for place, text in enumerate(talk.texts)
        ],
        weights,
    )
    if nli is not None:
        found = _checked(asked.query, found, weights, nli)
    return Run(asked, [int(s.candidate.id) for s in found], found[0].score)


def _checked(
    query: Query, found: list[Scored], weights: Weights, nli: EntailmentModel
) -> list[Scored]:
    asking = to_check(query, found, _TOP)
    said = nli.classify([(s.candidate.text, query.statement) for s in asking])
    again = [with_entailment(s.candidate, e.entailment) for s, e in zip(asking, said, strict=True)]
    seen = {c.id for c in again}
    rest = [s.candidate for s in found if s.candidate.id not in seen]
    return ranked(query, [*again, *rest], weights)


def _table(name: str, runs: Sequence[Run]) -> Table:
    rows = []
    for category in (1, 2, 3, 4):
        rows.append(
            (_NAMES[category], *_figures([r for r in runs if r.asked.category == category]))
        )
    rows.append(("1–4", *_figures([r for r in runs if r.asked.category != _ADVERSARIAL])))
    return Table(name, _HEADER, rows)


def _figures(runs: Sequence[Run]) -> Row:
    places = [_places(r) for r in runs if r.asked.gold]
    count = max(len(places), 1)
    return (
        str(len(places)),
        f"{sum(p[0] < _TOP for p in places) / count:.3f}",
        f"{sum(sum(x < _TOP for x in p) / len(p) for p in places) / count:.3f}",
        f"{sum(p[0] < 2 * _TOP for p in places) / count:.3f}",
        f"{sum(1 / (p[0] + 1) for p in places) / count:.3f}",
    )


def _places(run: Run) -> list[int]:
    """Return at which places of the ranking the answers stand, the first first."""
    return sorted(rank for rank, place in enumerate(run.order) if place in run.asked.gold)


def _abstention(runs: Sequence[Run]) -> Table:
    threshold = Policy().recall_threshold
    rows = []
    for name, kept in (
        ("1–4: answered", [r for r in runs if r.asked.category != _ADVERSARIAL]),
        ("5: answered, and must not be", [r for r in runs if r.asked.category == _ADVERSARIAL]),
    ):
        answered = sum(r.best >= threshold for r in kept)
        share = answered / len(kept) if kept else math.nan
        rows.append((name, str(len(kept)), f"{share:.2f}"))
    return Table(f"Abstention at {threshold}", ("questions", "n", "share"), rows)

"""Which memories an incoming fact is weighed against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from service.domain.errors import NotFound
from service.domain.memory import Memory
from service.domain.policy import Policy
from service.ports.models import Embedder
from service.ports.storage import Database, Scope, Transaction
from service.usecases.known import Key, Known, active_about, key_of, with_sources
from service.usecases.proposals import Judged

_SAME, _RELATED, _SEARCHED = 12, 20, 1000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is stored around some proposals.

    Attributes:
        known: the memories to weigh, by id.
        keys: the subjects and attributes of which every active memory was looked at.
        seen: the state of each memory that was looked at.
        near: for each proposal, the ids that are related by meaning.
        functional: the tenant's declarations.
    """

    known: Mapping[str, Known]
    keys: frozenset[Key]
    seen: dict[str, str]
    near: tuple[frozenset[str], ...]
    functional: Mapping[str, bool]


class Surveyor:
    """Looks up surroundings; the embedder runs outside every transaction."""

    def __init__(self, *, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder

    def survey(
        self, scope: Scope, user_id: str, judged: Sequence[Judged], policy: Policy
    ) -> Surroundings:
        """Return what is stored around the proposals.

        That is everything active about the same subject and attribute, and, for a proposal that
        corrects or retracts something, the up to 20 memories closest in meaning.
        """
        keys = frozenset(key_of(j.proposal) for j in judged)
        wide = any(j.proposal.correction or j.proposal.retracts for j in judged)

        def look(tx: Transaction) -> tuple[list[Memory], list[Memory], dict[str, bool]]:
            subject = tx.subjects.find(user_id)
            if subject is None:
                return [], [], tx.attributes.all()
            same = active_about(tx, subject, keys)
            every = list(tx.memories.active(subject))[-_SEARCHED:] if wide else []
            return [*same, *_named(tx, subject, judged)], every, tx.attributes.all()

        same, every, functional = self._database.read(scope, look)
        near = self._near(judged, every, policy)
        decided = {j.proposal.replaces for j in judged if j.proposal.replaces}
        close = frozenset().union(*near, decided)
        wanted = {m.id: m for m in [*same, *(m for m in every if m.id in close)]}
        chosen = self._closest(judged, list(wanted.values()), close)
        # A new user has nothing, and a transaction costs more than what it would find.
        known = self._database.read(scope, lambda tx: with_sources(tx, chosen)) if chosen else []
        return Surroundings(
            known={k.memory.id: k for k in known},
            keys=keys,
            seen={m.id: m.state_hash for m in wanted.values()},
            near=near,
            functional=functional,
        )

    def _near(
        self, judged: Sequence[Judged], every: Sequence[Memory], policy: Policy
    ) -> tuple[frozenset[str], ...]:
        if not every:
            return tuple(frozenset() for _ in judged)
        texts = [*(j.proposal.text for j in judged), *(m.text for m in every)]
        vectors = self._embedder.embed(texts)
        cosines = vectors[: len(judged)] @ vectors[len(judged) :].T
        found: list[frozenset[str]] = []
        for j, row in zip(judged, cosines, strict=True):
            best = np.argsort(-row, kind="stable")[:_RELATED]
            above = [every[i].id for i in best if row[i] >= policy.conflict_threshold]
            wide = j.proposal.correction or j.proposal.retracts
            found.append(frozenset(above if wide else ()))
        return tuple(found)

    def _closest(
        self, judged: Sequence[Judged], memories: Sequence[Memory], keep: frozenset[str]
    ) -> list[Memory]:
        """Return the memories to weigh: of very many likes, those that can matter."""
        room = _SAME * len(judged)
        if len(memories) <= room:
            return list(memories)
        vectors = self._embedder.embed([*(j.proposal.text for j in judged), *_texts(memories)])
        best = (vectors[: len(judged)] @ vectors[len(judged) :].T).max(axis=0)
        order = sorted(range(len(memories)), key=lambda i: -best[i])
        chosen = {memories[i].id for i in order[:room]} | keep
        return [m for m in memories if m.id in chosen]


def _texts(memories: Sequence[Memory]) -> list[str]:
    return [m.text for m in memories]


def _named(tx: Transaction, subject: str, judged: Sequence[Judged]) -> list[Memory]:
    """Return the memories that an actor decided to replace; raises ``NotFound``."""
    found: list[Memory] = []
    for memory_id in {j.proposal.replaces for j in judged} - {None}:
        memory = tx.memories.get(subject, str(memory_id))
        if memory is None:
            raise NotFound("memory")
        found.append(memory)
    return found

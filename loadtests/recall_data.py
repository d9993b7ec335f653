"""Facts for the benchmark of recall: made sentences, written to the tables in bulk."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import Connection, insert

from service import bootstrap
from service.adapters.db.columns import required_stamp
from service.adapters.db.memory_rows import event_row, memory_row
from service.adapters.db.memory_tables import embeddings, events, memories, turns
from service.adapters.db.transaction import SqlTransaction
from service.audit.entry import EntryDraft
from service.domain.digests import sealed, text_digest
from service.domain.memory import (
    Memory,
    MemoryAction,
    MemoryEvent,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    Triple,
)
from service.ports.storage import Scope
from service.settings import Settings

TENANT = "default"
SCOPE = Scope(TENANT, "local")
NOISE = 0.01
PER_TURN = 20
NOW = datetime.now(UTC)
WHO = (
    "brother sister mother father boss neighbour cousin uncle aunt nephew niece landlord dentist "
    "doctor teacher trainer roommate colleague manager accountant lawyer barber gardener plumber "
    "tailor grandmother grandfather stepfather godmother mentor therapist vet banker editor agent "
    "driver nanny tutor coach florist"
).split()
ABOUT = """
home|lives in|Where does {} live?|Which city does {} live in?|Lisbon Oslo
job|works as a|What does {} do for work?|What is the job of {}?|nurse welder
employer|works for|Who does {} work for?|Which company employs {}?|Nokia Shell
car|drives a|What car does {} drive?|Which car does {} own?|Volvo Fiat
pet|has a pet called|What is the pet of {} called?|What pet does {} have?|Rex Mia
food|likes to eat|What does {} like to eat?|Which food does {} enjoy?|sushi tacos
drink|drinks|What does {} drink?|Which drink does {} order?|espresso cider
sport|plays|Which sport does {} play?|What does {} play?|tennis hockey
language|speaks|Which language does {} speak?|What does {} speak?|Polish Greek
music|listens to|What music does {} listen to?|Who listens with {}?|jazz techno
birthday|was born in|When was {} born?|Which month was {} born?|March August
school|studied at|Where did {} study?|Which school did {} go to?|Yale Leiden
phone|uses a phone by|What phone does {} use?|Which phone has {}?|Samsung Apple
hobby|spends weekends|What does {} do at weekends?|How does {} relax?|sailing knitting
allergy|is allergic to|What is {} allergic to?|Which allergy has {}?|peanuts pollen
trip|travelled to|Where did {} travel to?|Which country did {} visit?|Peru Japan
colour|painted the house|What colour is the house of {}?|How did {} paint?|green blue
book|is reading|What is {} reading?|Which book does {} read?|Dune Emma
instrument|practises the|Which instrument has {}?|What does {} practise?|cello flute
spouse|is married to|Who is {} married to?|Who is the spouse of {}?|Ingrid Pavel
bank|banks with|Which bank does {} use?|Who does {} bank with?|Barclays Santander
diet|follows a diet that is|Which diet has {}?|How does {} eat?|vegan ketogenic
club|supports|Which club does {} support?|Who does {} cheer for?|Arsenal Ajax
tool|writes code in|What does {} write code in?|How does {} code?|Rust Python
plant|grows|What does {} grow?|Which plants does {} have?|tomatoes roses
"""
# What it is about, the verb, two questions, two values.


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence, what it says, and the questions it answers."""

    text: str
    triple: Triple
    questions: tuple[str, str]
    restated: str


def sentences() -> list[Spoken]:
    """Return 2,000 different ones."""
    found = []
    for who in WHO:
        person = f"the user's {who}"
        for row in ABOUT.strip().splitlines():
            attribute, verb, *asks, values = row.split("|")
            questions = asks[0].format(person), asks[1].format(person)
            for value in values.split():
                said = f"user's {who} {verb} {value}"
                triple = Triple(f"user.{who}", attribute, value)
                found.append(Spoken(f"The {said}.", triple, questions, said))
    return found


class Seeder:
    """Writes users with memories, turns, history, vectors and log entries into a new store.

    ``folder`` is the one that ``serving`` is given; the store opens as the service opens it, so
    that keys and checkpoints are where it looks for them.
    """

    def __init__(
        self,
        folder: Path,
        spoken: Sequence[Spoken],
        vectors: np.ndarray,
        digest: str,
        noise: float = NOISE,
    ) -> None:
        self._spoken, self._vectors, self._digest = spoken, vectors, digest
        self._noise = noise
        self._chance = np.random.default_rng(1)
        self._random = random.Random(2)
        places = {"data_dir": folder / "data", "key_dir": folder / "keys"}
        settings = Settings(_env_file=None, log_level="error", **places)
        bootstrap.start_logging(settings)
        self._store = bootstrap.build(settings)
        self._database = self._store.services.remember._database

    def noisy(self, count: int) -> tuple[list[str], np.ndarray]:
        """Return ids and vectors as a user of that size has them."""
        rows = np.arange(count) % len(self._vectors)
        return [f"raw_{n}" for n in range(count)], self._near(rows)

    def user(self, name: str, count: int, *, start: int | None = None) -> list[Spoken]:
        """Write one user in one transaction; return what they said.

        They say the sentences in their order from ``start`` on; without it, mixed up.
        """
        order = list(range(len(self._spoken)))
        if start is None:
            self._random.shuffle(order)
        first = start or 0
        rows = np.array([order[(first + n) % len(order)] for n in range(count)])
        said = [self._spoken[row] for row in rows]
        texts = [_told(s.text, n // len(order)) for n, s in enumerate(said)]

        def work(tx: SqlTransaction) -> None:
            connection = tx.audit._session.connection
            owner = Owner(tx.subjects.id_for(name), name)
            made = self._memories(connection, owner, texts, said)
            _insert(connection, events, [_entered(tx, memory) for memory in made])
            _insert(connection, embeddings, self._embedded(made, self._near(rows)))

        self._database.write(SCOPE, work)
        return said

    def close(self) -> None:
        self._store.close()

    def _near(self, rows: np.ndarray) -> np.ndarray:
        found = self._vectors[rows]
        found = found + self._chance.normal(scale=self._noise, size=found.shape)
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def _embedded(self, made: Sequence[Memory], vectors: np.ndarray) -> list[dict]:
        return [
            {
                "memory_id": m.id,
                "subject_id": m.owner.subject_id,
                "model_digest": self._digest,
                "vector": v.tobytes(),
                "created_at": required_stamp(NOW),
            }
            for m, v in zip(made, vectors, strict=True)
        ]

    def _memories(
        self, connection: Connection, owner: Owner, texts: Sequence[str], said: Sequence[Spoken]
    ) -> list[Memory]:
        made: list[Memory] = []
        told = []
        for start in range(0, len(texts), PER_TURN):
            part = texts[start : start + PER_TURN]
            whole = " ".join(part)
            turn = f"turn_{owner.user_id}_{start}"
            told.append(_turn(turn, owner, whole))
            at = 0
            for text, one in zip(part, said[start : start + PER_TURN], strict=True):
                name = f"mem_{owner.user_id}_{len(made):06d}"
                origin = Origin(turn, "user", text, at, at + len(text), told[-1]["content_hash"])
                made.append(_memory(name, owner, text, one.triple, origin))
                at += len(text) + 1
        _insert(connection, turns, told)
        _insert(connection, memories, [memory_row(m) for m in made])
        return made


def _entered(tx: SqlTransaction, memory: Memory) -> dict:
    """Append the entry that a new memory has in the log, and return its step in the history."""
    owner = memory.owner.subject_id
    drafted = EntryDraft(
        "memory.created",
        SCOPE.actor,
        owner,
        memory=(memory.id,),
        state_after=memory.state_hash,
    )
    seq = tx.audit.append(drafted, {}).seq
    return event_row(
        MemoryEvent(
            memory.id, owner, MemoryAction.CREATED, memory.status, NOW, SCOPE.actor, seq=seq
        )
    )


def _told(text: str, again: int) -> str:
    return text if again == 0 else f"{text.rstrip('.')}, as of {2015 + again}."


def _turn(turn: str, owner: Owner, text: str) -> dict:
    return {
        "id": turn,
        "subject_id": owner.subject_id,
        "agent_id": None,
        "session_id": None,
        "role": "user",
        "text": text,
        "language": "en",
        "content_hash": text_digest(text),
        "observed_at": required_stamp(NOW),
        "recorded_at": required_stamp(NOW),
    }


def _memory(name: str, owner: Owner, text: str, triple: Triple, origin: Origin) -> Memory:
    return sealed(
        Memory(
            id=name,
            owner=owner,
            text=text,
            type=MemoryType.FACT,
            triple=triple,
            importance=0.5,
            status=MemoryStatus.ACTIVE,
            origin=origin,
            observed_at=NOW,
            recorded_at=NOW,
            updated_at=NOW,
            verdict="STORE",
            decision_id=None,
            policy_fingerprint="bench",
            content_hash="",
            state_hash="",
        )
    )


def _insert(connection: Connection, table: object, rows: list[dict]) -> None:
    connection.execute(insert(table), [{"tenant": TENANT, **row} for row in rows])

"""What the faults interrupt: one memory with its decision, entries and answer, in one write.

Needs the storage layer and the use cases below HTTP; no model is loaded. Used by the tests and by
the processes that they kill.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from service.adapters.db.database import SqlDatabase, open_database
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.memory import Memory, MemoryAction, MemoryStatus, MemoryType, Origin, Owner
from service.domain.memory import Triple as Fact
from service.ports.storage import Appended, Scope, StoredAnswer, Transaction
from service.usecases.decisions import Decision, record
from service.usecases.journal import Journal, Step
from service.usecases.once import Once, write_once
from service.usecases.policies import BUILT_IN

SCOPE = Scope("default", "key_1")
CLOCK, IDENTIFIERS = SystemClock(), RandomIdentifiers()
LAST_POINT = 3
_MODEL = "sha256:" + "0" * 64


@dataclass(frozen=True)
class Answer:
    """What a caller is told: where its decision is in the log, and what was remembered if any."""

    seq: int
    leaf: str
    decision_id: str
    memory_id: str | None


def key_folder(path: Path) -> Path:
    """Return where the keys of a database are: beside its data directory."""
    return path.parent.parent / "keys"


def open_log(path: Path, *, encrypted: bool = True, **given: object) -> SqlDatabase:
    """Open or create the database that is to suffer, as the service does."""
    if encrypted:
        given["open_keys"] = partial(open_subject_keys, key_folder(path))
    return open_database(path, clock=CLOCK, identifiers=IDENTIFIERS, **given)


def nothing(_point: int) -> None:
    """Let a write go on."""


def remember(
    database: SqlDatabase,
    key: str,
    text: str = "I moved to Lyon.",
    at: Callable[[int], None] = nothing,
    user: str = "alice",
) -> Answer:
    """Remember a text once per key; the same key again gives the stored answer.

    ``at`` is called at the points 0 to ``LAST_POINT`` of the write, and may raise.
    """

    return _once(database, key, text, lambda tx: _remember(tx, user, text, at))


def decide(database: SqlDatabase, key: str, at: Callable[[int], None] = nothing) -> Answer:
    """Record a decision once per key: half as much work, and one entry; else as ``remember``."""
    return _once(database, key, key, lambda tx: _decide(tx, at))


def _once(
    database: SqlDatabase, key: str, text: str, work: Callable[[Transaction], Answer]
) -> Answer:
    once = Once(key, hashlib.sha256(text.encode()).hexdigest(), _render)
    found = write_once(database, SCOPE, CLOCK, once, work)
    return Answer(**json.loads(found.body)) if isinstance(found, StoredAnswer) else found


def _remember(tx: Transaction, user: str, text: str, at: Callable[[int], None]) -> Answer:
    at(0)
    now = datetime.now(UTC)
    subject = tx.subjects.id_for(user)
    memory = _memory(IDENTIFIERS.new("mem"), Owner(subject, user), text, now)
    at(1)
    Journal(tx, subject, now).write(Step(MemoryAction.CREATED, memory))
    at(2)
    decision = _decision(str(memory.decision_id), text, memory.id)
    appended, _ = record(tx, subject, decision, now)
    at(LAST_POINT)
    return _answer(appended, memory)


def _decide(tx: Transaction, at: Callable[[int], None]) -> Answer:
    at(0)
    subject = tx.subjects.id_for("alice")
    at(1)
    at(2)
    decision = _decision(IDENTIFIERS.new("chk"), "I moved to Lyon.")
    appended, _ = record(tx, subject, decision, datetime.now(UTC))
    at(LAST_POINT)
    return Answer(appended.seq, appended.entry_hash, decision.id, None)


def _answer(appended: Appended, memory: Memory) -> Answer:
    return Answer(appended.seq, appended.entry_hash, str(memory.decision_id), memory.id)


def _render(answer: Answer) -> tuple[int, bytes]:
    return 201, json.dumps(asdict(answer)).encode()


def _decision(decision_id: str, text: str, *memories: str) -> Decision:
    return Decision(
        id=decision_id,
        kind="check",
        verdict="STORE",
        reason_code="supported",
        scores={"entailment": 0.987654},
        policy=BUILT_IN,
        models={"nli": _MODEL},
        texts={"fact": text, "source": text},
        memory=memories,
    )


def _memory(memory_id: str, owner: Owner, text: str, now: datetime) -> Memory:
    return Memory(
        id=memory_id,
        owner=owner,
        text=text,
        type=MemoryType.FACT,
        triple=Fact("user", "home", text),
        importance=0.5,
        status=MemoryStatus.ACTIVE,
        origin=Origin(None, "user", text, 0, len(text), "0" * 64),
        observed_at=now,
        recorded_at=now,
        updated_at=now,
        verdict="STORE",
        decision_id=IDENTIFIERS.new("chk"),
        policy_fingerprint=BUILT_IN.fingerprint,
        content_hash="",
        state_hash="",
    )

"""From a database of revision 0001 with data in it to the tables of memories."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import event

from service.adapters.db import prepared
from service.adapters.db.engine import choose_driver, writer_engine
from service.adapters.db.migrate import _config
from service.audit.chain import genesis, leaf_hash, search_columns
from service.audit.commitment import commit, new_salt
from service.audit.entry import Entry, EntryDraft, format_timestamp, seal
from service.audit.rows import Body
from service.audit.tree import TreeBuilder
from service.domain.errors import ReadOnly
from service.domain.memory import (
    Memory,
    MemoryStatus,
    MemoryType,
    Origin,
    Owner,
    ReviewStatus,
    Triple,
    Turn,
)
from service.ports.memory import MemoryFilter
from service.ports.storage import (
    SYSTEM,
    DecisionRecord,
    PageRequest,
    PolicyRecord,
    Scope,
    StoredAnswer,
)

SCOPE = Scope("default", "key_1")
ORIGIN = "groundkeeper/mine"
NOW = datetime(2026, 11, 29, 17, tzinfo=UTC)
POLICY = PolicyRecord("f1", "default", "1", "{}", None, NOW)
DECISION = DecisionRecord("chk_1", "check", None, 1, "STORE", "supported", "f1", NOW)
ANSWER = StoredAnswer("h1", 200, b"{}", NOW)


def migrate_to(path: Path, revision: str) -> None:
    engine = writer_engine(path, choose_driver(), busy_timeout=5)
    config = _config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def memory(owner: Owner) -> Memory:
    return Memory(
        id="mem_1",
        owner=owner,
        text="The user lives in Lyon",
        type=MemoryType.FACT,
        triple=Triple("user", "home", "Lyon"),
        importance=0.5,
        status=MemoryStatus.ACTIVE,
        origin=Origin("turn_1", "user", "I live in Lyon", 0, 14, "h"),
        observed_at=NOW,
        recorded_at=NOW,
        updated_at=NOW,
        verdict="STORE",
        decision_id="chk_1",
        policy_fingerprint="f1",
        content_hash="c",
        state_hash="s",
    )


def sealed_log(texts: int) -> list[tuple[Entry, dict[str, Body]]]:
    """Return a log as that release wrote it: the opening, a decision, and texts."""
    decision = {"id": "chk_1", "verdict": "STORE", "reason_code": "supported", "scores_e6": {}}
    actor = SCOPE.actor
    drafts = [
        (EntryDraft("log.opened", SYSTEM.actor), {}),
        (EntryDraft("check.decided", actor, decision=decision, policy="f1"), {}),
    ]
    for number in range(texts):
        body = Body(new_salt(), f"fact {number}")
        commitments = {"fact": commit(body.salt, body.text.encode())}
        draft = EntryDraft("check.decided", actor, subject="sub_1", commitments=commitments)
        drafts.append((draft, {"fact": body}))
    made, prev = [], genesis(ORIGIN)
    for seq, (draft, bodies) in enumerate(drafts):
        entry = seal(draft, log=ORIGIN, seq=seq, ts=format_timestamp(NOW), prev=prev)
        made.append((entry, bodies))
        prev = leaf_hash(entry.data)
    return made


@pytest.fixture
def old(path: Path) -> dict[str, str]:
    """A database that the release with revision 0001 left behind; the log has seven entries."""
    path.parent.mkdir(parents=True)
    path.touch()
    migrate_to(path, "0001")
    now = format_timestamp(NOW)
    engine = writer_engine(path, choose_driver(), busy_timeout=5)
    with engine.begin() as connection:

        def put(table: str, *values: object) -> None:
            marks = ", ".join("?" * len(values))
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES ({marks})", values)

        put("head", 1, ORIGIN, 0, genesis(ORIGIN), "")
        for entry, bodies in sealed_log(5):
            columns, leaf = search_columns(entry), leaf_hash(entry.data)
            put("entry", entry.seq, *columns.values(), leaf, entry.data)
            for name, body in bodies.items():
                put("body", entry.seq, name, body.salt, body.text.encode())
            connection.exec_driver_sql(
                "UPDATE head SET size = ?, leaf = ?, ts = ?", (entry.seq + 1, leaf, entry.ts)
            )
        put("policy", SCOPE.tenant, "f1", 1, "default", "1", "{}", None, now)
        put("default_policy", SCOPE.tenant, "f1")
        put("decision", SCOPE.tenant, "chk_1", "check", None, 1, *"STORE supported f1".split(), now)
        put("idempotency", SCOPE.tenant, "k", "h1", 200, b"{}", now)
        for name in ("alice", "bob"):
            put("subject", SCOPE.tenant, name, f"sub_{name}")
    engine.dispose()
    return {"alice": "sub_alice", "bob": "sub_bob"}


def test_everything_of_revision_0001_is_still_there(old, open_it, check):
    database = open_it(origin=ORIGIN)
    assert database.health().at_head

    def look(tx) -> None:
        assert tx.policies.get("f1") == POLICY
        assert tx.policies.default() == "f1"
        assert tx.decisions.get("chk_1") == DECISION
        assert tx.idempotency.get("k") == ANSWER
        assert {name: tx.subjects.find(name) for name in old} == old

    database.read(SCOPE, look)
    report = check(database)
    assert report.levels[5].problems == ()
    assert report.ok
    assert report.total == 7
    leaves = TreeBuilder()
    for entry, _ in sealed_log(0):
        leaves.add(bytes.fromhex(leaf_hash(entry.data)))
    assert database.read(SCOPE, lambda tx: tx.audit.root(2)) == leaves.root()
    assert len(append_to(database, 3)) == 3
    assert check(database).ok


def append_to(database, count: int) -> list[int]:
    """Go on with the log, so that old subtrees are built upon."""
    draft = EntryDraft("policy.changed", SCOPE.actor)
    return [database.write(SCOPE, lambda tx: tx.audit.append(draft, {})).seq for _ in range(count)]


def test_the_tree_of_an_old_log_ends_where_an_entry_is_missing(old, path, open_it, tamper, check):
    tamper("DELETE FROM entry WHERE seq = 4", "DELETE FROM body WHERE seq = 4")
    database = open_it()
    report = check(database)
    assert report.missing == (4,)
    with pytest.raises(ReadOnly, match="run verify"):
        append_to(database, 1)


def test_users_of_revision_0001_can_have_memories(old, open_it):
    database = open_it()
    owner = Owner(old["alice"], "alice")

    def remember(tx) -> None:
        tx.turns.add(Turn("turn_1", owner, "user", "I live in Lyon", "en", "h", NOW, NOW))
        tx.memories.add(memory(owner))
        tx.outbox.put("mem_1")

    database.write(SCOPE, remember)
    database.close()
    again = open_it()
    assert again.read(SCOPE, lambda tx: tx.memories.get(owner.subject_id, "mem_1")) == memory(owner)
    assert len(again.read(SCOPE, lambda tx: tx.outbox.pending(9))) == 1


@contextmanager
def statements(database) -> Iterator[list[tuple[str, tuple]]]:
    seen: list[tuple[str, tuple]] = []

    def keep(_connection, _cursor, statement, parameters, _context, _many) -> None:
        seen.append((statement, parameters))

    real = prepared.execute

    def noted(connection, text, values, *, many=False):
        if connection.engine is database._readers:  # not those of a service that runs beside
            seen.append((text, values))
        return real(connection, text, values, many=many)

    event.listen(database._readers, "before_cursor_execute", keep)
    prepared.execute = noted  # these statements go past the engine's events
    yield seen
    prepared.execute = real
    event.remove(database._readers, "before_cursor_execute", keep)


ACTIVE = MemoryFilter("sub_1")
PAGE = PageRequest(50, "00000I2O")

SORTED = {
    "active": lambda tx: tx.memories.active("sub_1"),
    "list": lambda tx: tx.memories.list(ACTIVE, PAGE),
    "list of all": lambda tx: tx.memories.list(MemoryFilter("sub_1", statuses=()), PAGE),
    "list with text": lambda tx: tx.memories.list(MemoryFilter("sub_1", q="a"), PAGE),
    "turns": lambda tx: tx.turns.of_subject("sub_1"),
    "open reviews": lambda tx: tx.reviews.list(PAGE, status=ReviewStatus.OPEN),
    "all reviews": lambda tx: tx.reviews.list(PAGE),
    "reviews of a user": lambda tx: tx.reviews.list(PAGE, subject_id="sub_1"),
    "conflicts": lambda tx: tx.conflicts.list("sub_1", PAGE),
    "outbox": lambda tx: tx.outbox.pending(100),
}
FOUND = {
    "get": lambda tx: tx.memories.get("sub_1", "mem_1"),
    "many": lambda tx: tx.memories.many("sub_1", ["mem_1", "mem_2"]),
    "about": lambda tx: tx.memories.about("sub_1", "user"),
    "of turn": lambda tx: tx.memories.of_turn("sub_1", "turn_1"),
    "history": lambda tx: tx.memories.history("sub_1", ["mem_1", "mem_2"]),
    "scopes": lambda tx: tx.memories.scopes("sub_1"),
    "turn": lambda tx: tx.turns.get("turn_1"),
    "review": lambda tx: tx.reviews.get("rev_1"),
    "conflict": lambda tx: tx.conflicts.get("sub_1", "con_1"),
    "conflicts with": lambda tx: tx.conflicts.open_with("sub_1", "mem_1"),
    "same attribute": lambda tx: tx.memories.list(
        MemoryFilter("sub_1", subject="user", attribute="home"), PAGE
    ),
}


def plans(database, work) -> list[str]:
    with statements(database) as seen:
        database.read(SCOPE, work)
    with database._readers.connect() as connection:
        return [
            f"{row[3]} <- {statement}"
            for statement, parameters in seen
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]


@pytest.mark.parametrize("name", [*SORTED, *FOUND])
def test_every_query_goes_by_an_index(database, name):
    found = plans(database, (SORTED | FOUND)[name])
    assert found
    scans = [step for step in found if step.startswith("SCAN")]
    assert scans == []
    if name in SORTED:
        assert [step for step in found if "B-TREE" in step] == []
